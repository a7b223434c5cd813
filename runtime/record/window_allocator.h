// Room record: serves allocations from one reserved window at a fixed place.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "runtime/record/guard_zone.h"
#include "runtime/record/memory_backend.h"

namespace mneme::record {

/// The alignment vendors promise for every allocation is 256 bytes; pitched rows want 512.
inline constexpr uint64_t kAllocationAlignment = 512;

/// Best fit with coalescing. Memory is mapped on demand in runs of pieces of the backend's
/// granularity and stays mapped for reuse until trim(). Not thread-safe.
class WindowAllocator {
public:
  /// Windows of device d start at one of these plus d TiB: places that Linux leaves free between
  /// the program and its libraries. The later ones are for processes that occupy the first, as
  /// those built with AddressSanitizer do.
  static const std::vector<uint64_t>& candidateAddresses();

  /// Reserves `sizeBytes` at the first candidate that is granted, with room for guards around it
  /// where that is granted, too; base() is 0 if none is.
  WindowAllocator(MemoryBackend& backend, unsigned device, uint64_t sizeBytes);
  /// Gives memory and addresses back, whatever is still allocated.
  ~WindowAllocator();
  WindowAllocator(const WindowAllocator&) = delete;
  WindowAllocator& operator=(const WindowAllocator&) = delete;

  uint64_t base() const noexcept { return base_; }
  uint64_t sizeBytes() const noexcept { return sizeBytes_; }

  /// Address of at least `sizeBytes` bytes, or 0 when the window or the memory is exhausted.
  uint64_t allocate(uint64_t sizeBytes);
  /// Whether addresses for so much are free, memory or not.
  bool hasRoom(uint64_t sizeBytes) const;
  /// `address` and `sizeBytes` as given to and by allocate().
  void release(uint64_t address, uint64_t sizeBytes);

  /// Bytes that are mapped and not allocated, in runs of which nothing is allocated.
  uint64_t idleBytes() const;
  /// Bytes that are mapped, allocated or not.
  uint64_t mappedBytes() const;
  /// What lies around the memory.
  const GuardZone& guards() const noexcept { return guards_; }
  /// Gives idle memory back to the device until at most `keepBytes` remain; returns how much.
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
  uint64_t zoneBytes_ = 0; ///< reserved on both sides of the window
  uint64_t base_ = 0;
  uint64_t sizeBytes_ = 0;
  std::map<uint64_t, uint64_t> freeByAddress_;
  std::set<FreeBlock> freeBySize_;
  std::map<uint64_t, uint64_t> runs_; ///< mapped at once: address to size
  std::set<unsigned> sharers_;
};

} // namespace mneme::record
