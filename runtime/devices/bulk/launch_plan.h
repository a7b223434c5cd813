// Room devices: distributes bulk work over a GPU. Internal.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "runtime/devices/bulk/bulk_runner.h"

namespace mneme::device::bulk {

constexpr uint32_t blockThreads = 256;
constexpr uint64_t warpsPerBlock = blockThreads / 32;

/// A kernel, and how many of its blocks run on a multiprocessor at the same time: as many as its
/// registers allow, so that no block waits for another to end. CMakeLists.txt has the same numbers
/// for the assembler.
struct Kernel {
  BulkModule module;
  const char* name;
  uint32_t residentBlocks;
};

constexpr Kernel hashPages{BulkModule::Memory, "mnemeHashPages", 3};
constexpr Kernel hashAlignedPages{BulkModule::Memory, "mnemeHashAlignedPages", 3};
constexpr Kernel diffPages{BulkModule::Memory, "mnemeDiffPages", 4};
constexpr Kernel searchPages{BulkModule::Memory, "mnemeSearchPages", 4};
constexpr Kernel copyRanges{BulkModule::Memory, "mnemeCopyRanges", 3};
constexpr Kernel compareScan{BulkModule::Compare, "mnemeCompareScan", 4};
constexpr Kernel compareFloats{BulkModule::Compare, "mnemeCompareFloats", 2};
constexpr Kernel compareElements{BulkModule::Compare, "mnemeCompareElements", 2};
constexpr Kernel compareFloatNorms{BulkModule::Compare, "mnemeCompareFloatNorms", 2};
constexpr Kernel compareNorms{BulkModule::Compare, "mnemeCompareNorms", 1};
constexpr Kernel compareGroups{BulkModule::Compare, "mnemeCompareGroups", 2};

/// Starts a kernel whose arguments are all 64-bit numbers with one warp for each unit of work, or
/// as many as fit on the device, which then take further units in turn.
inline void launchWarps(BulkRunner& runner, const Kernel& kernel, uint64_t units,
                        std::vector<uint64_t> values) {
  std::vector<void*> args;
  for (uint64_t& value : values)
    args.push_back(&value);
  const uint64_t most = uint64_t{runner.multiprocessors()} * kernel.residentBlocks;
  const uint64_t blocks =
      std::clamp<uint64_t>((units + warpsPerBlock - 1) / warpsPerBlock, 1, most);
  runner.launch(kernel.module, kernel.name, static_cast<uint32_t>(blocks), blockThreads, args);
}

inline uint64_t divideUp(uint64_t value, uint64_t by) { return value / by + (value % by != 0); }

/// Returns a power of two: small enough for about 16 tiles per warp, so that all warps end at about
/// the same time, and large enough that the fixed cost of a tile is negligible.
inline uint64_t tileBytesFor(uint64_t totalBytes, uint32_t multiprocessors) {
  const uint64_t warps = multiprocessors * uint64_t{4} * warpsPerBlock;
  return std::clamp<uint64_t>(std::bit_floor(totalBytes / (16 * warps) | 1), 4096, 131072);
}

} // namespace mneme::device::bulk
