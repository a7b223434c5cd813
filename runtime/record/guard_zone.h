// Room record: what lies around the memory of a window, for kernels that read a little outside of
// what their program allocated. Alone they find memory of the vendor's there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "runtime/base/guard_page.h"
#include "runtime/record/memory_backend.h"

namespace mneme::record {

/// Guard pages within kGuardBytes of every run of mapped memory. Not thread-safe.
///
/// Where the window grows, a page goes before memory takes its place: a kernel that reads exactly
/// there at that moment, outside of its allocation and of the page around it, fails. Waiting for
/// such kernels would make programs hang that allocate for a kernel under way.
class GuardZone {
public:
  using Runs = std::map<uint64_t, uint64_t>; ///< what is mapped: address to size

  explicit GuardZone(MemoryBackend& backend)
      : backend_(backend), pageBytes_(backend.guardPageBytes()) {}

  bool isPossible() const noexcept { return pageBytes_ != 0; }
  /// Guards are laid in there only, which is reserved.
  void setBounds(uint64_t begin, uint64_t end) noexcept { begin_ = begin, end_ = end; }

  /// Memory is about to be mapped there.
  void makeRoom(uint64_t address, uint64_t sizeBytes) noexcept;
  /// What is mapped has changed in this range: lays guards around it, and takes away those that are
  /// near nothing any more. Devices of `sharers` may use them, too.
  void update(uint64_t address, uint64_t sizeBytes, const Runs& runs,
              const std::set<unsigned>& sharers);
  void share(unsigned device);
  void removeAll() noexcept;

  bool isGuard(uint64_t address) const;
  /// What all guards take of the device's memory.
  uint64_t takenBytes() const noexcept { return pages_.empty() ? 0 : pageBytes_; }
  /// Where the page is, if anywhere.
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
