// Room device: the bulk operations of every GPU, written once. The kernels are ours (kernels/,
// plain C++ compiled for the GPU family without any vendor header); a BulkRunner starts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/hash.h"
#include "runtime/base/word_ranges.h"
#include "runtime/device/compare.h"
#include "runtime/device/device.h"

namespace mneme::device {

/// The kernels come in modules, so that a user of one does not pay for loading the others.
enum class BulkModule : uint8_t {
  Memory,  ///< hash, diff, copy
  Compare, ///< verification with tolerances
};

/// PTX text of a module, zero-terminated; made when the project is built, for the oldest
/// architecture we support. Loading it needs no compiler but the driver's.
std::string_view bulkPtx(BulkModule module) noexcept;
/// LLVM bitcode of a module for AMD GPUs, of no particular one: to be compiled for the one at hand.
std::span<const std::byte> bulkBitcode(BulkModule module) noexcept;

/// What the bulk operations need of a device: one queue of kernels and copies, in order.
class BulkRunner {
public:
  virtual ~BulkRunner() = default;
  /// Starts a kernel on the queue. `args[i]` points to the value of argument i; values are copied.
  virtual void launch(BulkModule module, const char* kernel, uint32_t blocks, uint32_t threads,
                      std::span<void* const> args) = 0;
  /// Starts a copy; the source is read before the call returns.
  virtual void copyToDevice(uint64_t destination, const void* source, size_t sizeBytes) = 0;
  /// Waits for everything before it, then copies; complete on return.
  virtual void copyToHost(void* destination, uint64_t source, size_t sizeBytes) = 0;
  /// Starts filling with zeros.
  virtual void clear(uint64_t address, size_t sizeBytes) = 0;
  /// Starts one large device-to-device copy (the vendor's own, for ranges where that is fastest).
  virtual void copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes) = 0;
  /// Device memory of at least this size, valid until the next call; grows as needed.
  virtual uint64_t scratch(size_t sizeBytes) = 0;
  virtual uint32_t multiprocessors() const = 0;
};

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

/// Ranges to be copied, in the form the kernels take them.
class CopyPlan {
public:
  CopyPlan(std::span<const CopyRange> ranges, uint32_t multiprocessors);
  /// What BulkOperations::run() wants to find in device memory; may be empty.
  std::span<const std::byte> table() const noexcept { return table_; }

private:
  friend class BulkOperations;
  std::vector<CopyRange> large_; ///< for the vendor's own copy
  std::vector<std::byte> table_; ///< of the others
  uint64_t rangeCount_ = 0;
  uint64_t tiles_ = 0;
  uint64_t tileBytes_ = 0;
};

/// Semantics as the functions of the same names in Device. Not thread-safe.
class BulkOperations {
public:
  explicit BulkOperations(BulkRunner& runner) : runner_(runner) {}

  /// All ranges in one go; hashes equal hash128() of the same bytes on the host.
  void hashPages(std::span<const HashRequest> requests, uint64_t pageBytes);
  std::vector<uint64_t> diffPages(uint64_t first, uint64_t second, uint64_t sizeBytes,
                                  uint64_t pageBytes);
  /// All ranges in one go: which of `ranges` the words of these pages lead into (0 or 1 for each,
  /// in its order). Words are those of WordRanges; one that reaches over the end of its page is
  /// none.
  std::vector<uint8_t> searchPages(std::span<const SearchRequest> requests, uint64_t pageBytes,
                                   const WordRanges& ranges);
  /// Started, not waited for. Destinations may be any memory the device can write, pinned host
  /// memory included. No alignment is required of any address or size.
  void restore(std::span<const CopyRange> ranges);
  /// The same of a plan whose table lies at `table` in device memory.
  void run(const CopyPlan& plan, uint64_t table);
  std::vector<CompareReport> compare(std::span<const CompareRequest> requests);

private:
  BulkRunner& runner_;
};

} // namespace mneme::device
