// Room device: how bulk work is spread over a GPU. Internal.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace mneme::device::bulk {

constexpr uint32_t blockThreads = 256;
constexpr uint64_t warpsPerBlock = blockThreads / 32;
constexpr uint64_t warpsPerMultiprocessor = 64;

/// Blocks for this many units of one warp each: at most what fits on the device at once, whose
/// warps take further units in turn.
inline uint32_t blocksFor(uint64_t units, uint32_t multiprocessors) {
  const uint64_t most = multiprocessors * warpsPerMultiprocessor / warpsPerBlock;
  return static_cast<uint32_t>(
      std::clamp<uint64_t>((units + warpsPerBlock - 1) / warpsPerBlock, 1, most));
}

/// A power of two. Small enough for 8 tiles a warp, so that all end at about the same time; large
/// enough that a tile's own cost vanishes.
inline uint64_t tileBytesFor(uint64_t totalBytes, uint32_t multiprocessors) {
  const uint64_t share = totalBytes / (multiprocessors * warpsPerMultiprocessor * 8 + 1);
  return std::clamp<uint64_t>(std::bit_floor(share | 1), 4096, 131072);
}

} // namespace mneme::device::bulk
