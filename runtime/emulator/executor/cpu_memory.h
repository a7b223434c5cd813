// Room emulator/executor: reserved and mapped ranges of the process's own address space.
#pragma once

#include <cstdint>
#include <map>

#include "runtime/core/base/guard_page.h"

namespace mneme::device::cpu {

/// A set of disjoint byte ranges.
class RangeSet {
public:
  void add(uint64_t begin, uint64_t end);
  void remove(uint64_t begin, uint64_t end);
  bool contains(uint64_t begin, uint64_t end) const;
  bool overlaps(uint64_t begin, uint64_t end) const;

private:
  std::map<uint64_t, uint64_t> ends_; ///< begin -> end
};

/// Reservations are inaccessible until mapped. Destruction releases everything.
class AddressSpace {
public:
  /// 2 MiB, as in CUDA's virtual memory management, so that windows recorded here can be granted
  /// there.
  static constexpr uint64_t granularity = 2 << 20;

  AddressSpace() = default;
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  uint64_t reserve(uint64_t address, uint64_t sizeBytes);
  void release(uint64_t address, uint64_t sizeBytes) noexcept;
  void map(uint64_t address, uint64_t sizeBytes);
  void unmap(uint64_t address, uint64_t sizeBytes) noexcept;
  /// As Device::mapGuard().
  void mapGuard(uint64_t address, uint64_t sizeBytes);

  /// Memory outside of our reservations belongs to the process and is probed.
  /// \throws Error{DeviceFailed} naming `operation` when the range cannot be accessed.
  void requireAccess(uint64_t address, uint64_t sizeBytes, const char* operation) const;
  bool isAccessible(uint64_t address, uint64_t sizeBytes) const;

private:
  std::map<uint64_t, uint64_t> reservations_; ///< begin -> size
  RangeSet reserved_;
  RangeSet mapped_;
  GuardPage guard_;
};

} // namespace mneme::device::cpu
