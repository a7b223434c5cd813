// Room recorder: guard pages around the memory of a window, for kernels that read slightly outside
// of their program's allocations. Without the recorder such kernels read the vendor's memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "runtime/core/base/guard_page.h"
#include "runtime/recorder/memory_backend.h"

namespace mneme::record {

/// Guard pages within kGuardBytes of every run of mapped memory. Not thread-safe.
///
/// Where the window grows, a guard page is removed before memory replaces it. A kernel that reads
/// exactly there at that moment, outside of its allocation and of the page around it, fails.
/// Waiting for kernels would make programs hang that allocate for a running kernel.
class GuardZone {
public:
  using Runs = std::map<uint64_t, uint64_t>; ///< mapped memory: address to size

  explicit GuardZone(MemoryBackend& backend)
      : backend_(backend), pageBytes_(backend.guardPageBytes()) {}

  bool isPossible() const noexcept { return pageBytes_ != 0; }
  /// Limits guards to this range, which is reserved.
  void setBounds(uint64_t begin, uint64_t end) noexcept { begin_ = begin, end_ = end; }

  /// Removes guards where memory is about to be mapped.
  void makeRoom(uint64_t address, uint64_t sizeBytes) noexcept;
  /// Call it when mapped memory has changed in this range: maps guards around it, and removes those
  /// that are no longer near memory. Devices in `sharers` may use them, too.
  void update(uint64_t address, uint64_t sizeBytes, const Runs& runs,
              const std::set<unsigned>& sharers);
  void share(unsigned device);
  void removeAll() noexcept;

  bool isGuard(uint64_t address) const;
  /// Returns how much of the device's memory all guards take.
  uint64_t takenBytes() const noexcept { return pages_.empty() ? 0 : pageBytes_; }
  /// Returns an address of the page, if it is mapped anywhere.
  std::optional<uint64_t> place() const;

private:
  void settle(uint64_t page, const Runs& runs, const std::set<unsigned>& sharers);

  MemoryBackend& backend_;
  const uint64_t pageBytes_;
  uint64_t begin_ = 0, end_ = 0;
  std::set<uint64_t> pages_;
  bool isRefused_ = false;
};

} // namespace mneme::record
