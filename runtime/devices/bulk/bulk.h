// Room devices: bulk operations, shared by all GPUs. The kernels are our own (kernels/, plain C++
// compiled for the GPU family without any vendor header); a BulkRunner starts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/core/base/hash.h"
#include "runtime/core/base/word_ranges.h"
#include "runtime/devices/bulk/bulk_runner.h"
#include "runtime/devices/compare.h"
#include "runtime/devices/device.h"

namespace mneme::device {

/// PTX text of a module, zero-terminated. It is compiled when the project is built, for the oldest
/// architecture we support; only the driver is needed to load it.
std::string_view bulkPtx(BulkModule module) noexcept;
/// LLVM bitcode of a module for AMD GPUs. It is for no particular GPU: compile it for the one in
/// use.
std::span<const std::byte> bulkBitcode(BulkModule module) noexcept;

/// Pages of one range to be hashed.
struct HashRequest {
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
  std::span<Hash128> hashes; ///< one per page; the last page may be short
};

/// Pages of one range to be searched for addresses.
struct SearchRequest {
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
  std::span<uint8_t> holdsAddress; ///< one per page, set to 0 or 1; the last page may be short
};

/// Ranges to copy, in the form that the kernels take.
class CopyPlan {
public:
  CopyPlan(std::span<const CopyRange> ranges, uint32_t multiprocessors);
  /// The table that must be in device memory for BulkOperations::run(); may be empty.
  std::span<const std::byte> table() const noexcept { return table_; }

private:
  friend class BulkOperations;
  std::vector<CopyRange> large_; ///< for the vendor's own copy
  std::vector<std::byte> table_; ///< of the others
  uint64_t rangeCount_ = 0;
  uint64_t tiles_ = 0;
  uint64_t tileBytes_ = 0;
};

/// Functions have the meaning of those with the same names in Device. Not thread-safe.
class BulkOperations {
public:
  explicit BulkOperations(BulkRunner& runner) : runner_(runner) {}

  /// Hashes all ranges at once. The hashes equal hash128() of the same bytes on the host.
  void hashPages(std::span<const HashRequest> requests, uint64_t pageBytes);
  std::vector<uint64_t> diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                  uint64_t pageBytes);
  /// Searches all requests at once for words whose values lie in `ranges`. Returns 0 or 1 per
  /// range, in its order. Words are those of WordRanges; a word that extends beyond its page does
  /// not count.
  std::vector<uint8_t> searchPages(std::span<const SearchRequest> requests, uint64_t pageBytes,
                                   const WordRanges& ranges);
  /// Starts copying without waiting. Destinations may be any memory the device can write, including
  /// pinned host memory. Addresses and sizes need no alignment.
  void restore(std::span<const CopyRange> ranges);
  /// The same for a plan whose table is at `table` in device memory.
  void run(const CopyPlan& plan, uint64_t table);
  std::vector<CompareReport> compare(std::span<const CompareRequest> requests);

private:
  BulkRunner& runner_;
};

} // namespace mneme::device
