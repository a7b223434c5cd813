// Room recorder: serves allocations from one reserved window at a fixed address.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "runtime/recorder/guard_zone.h"
#include "runtime/recorder/memory_backend.h"

namespace mneme::record {

/// Vendors promise an alignment of 256 bytes for every allocation; pitched rows need 512.
inline constexpr uint64_t kAllocationAlignment = 512;

/// Best fit with coalescing. Memory is mapped on demand in runs of pieces of the backend's
/// granularity and stays mapped for reuse until trim(). Not thread-safe.
class WindowAllocator {
public:
  /// Windows of device d start at one of these plus d TiB. Linux leaves these addresses free
  /// between the program and its libraries. The later ones are for processes that occupy the first,
  /// such as those built with AddressSanitizer.
  static const std::vector<uint64_t>& candidateAddresses();

  /// Reserves `sizeBytes` at the first candidate that is granted, with room for guards around it if
  /// that is granted, too. base() is 0 if none is.
  WindowAllocator(MemoryBackend& backend, unsigned device, uint64_t sizeBytes);
  /// Releases memory and addresses, even if some are still allocated.
  ~WindowAllocator();
  WindowAllocator(const WindowAllocator&) = delete;
  WindowAllocator& operator=(const WindowAllocator&) = delete;

  uint64_t base() const noexcept { return base_; }
  uint64_t sizeBytes() const noexcept { return sizeBytes_; }

  /// Returns the address of at least `sizeBytes` bytes, or 0 if the window or the memory is
  /// exhausted.
  uint64_t allocate(uint64_t sizeBytes);
  /// Whether addresses for this size are free, with or without memory.
  bool hasRoom(uint64_t sizeBytes) const;
  /// Frees an allocation. `address` was returned by allocate() for `sizeBytes`.
  void release(uint64_t address, uint64_t sizeBytes);

  /// Returns the number of mapped bytes in runs without allocations.
  uint64_t idleBytes() const;
  /// Returns the number of mapped bytes, allocated or not.
  uint64_t mappedBytes() const;
  /// The guards around the memory.
  const GuardZone& guards() const noexcept { return guards_; }
  /// Returns idle memory to the device until at most `keepBytes` remain. Returns how much that was.
  uint64_t trim(uint64_t keepBytes = 0);
  /// Lets another device use the window's memory, present and future.
  void share(unsigned device);

private:
  using FreeBlock = std::pair<uint64_t, uint64_t>; ///< size, address
  bool reserve(uint64_t address, uint64_t sizeBytes, uint64_t zoneBytes);
  bool mapMissing(uint64_t address, uint64_t sizeBytes);
  bool mapRange(uint64_t address, uint64_t sizeBytes);
  bool mapRun(uint64_t address, uint64_t sizeBytes);
  bool isFree(uint64_t address, uint64_t sizeBytes) const;
  void insertFree(uint64_t address, uint64_t sizeBytes);
  void eraseFree(std::map<uint64_t, uint64_t>::iterator block);

  MemoryBackend& backend_;
  GuardZone guards_;
  uint64_t zoneBytes_ = 0; ///< reserved on either side of the window
  uint64_t base_ = 0;
  uint64_t sizeBytes_ = 0;
  std::map<uint64_t, uint64_t> freeByAddress_;
  std::set<FreeBlock> freeBySize_;
  std::map<uint64_t, uint64_t> runs_; ///< memory of one map() call: address to size
  std::set<unsigned> sharers_;
};

} // namespace mneme::record
