// Room devices/gpu: reservations at chosen addresses and the memory mapped into them.
#pragma once

#include <cstdint>
#include <map>

#include "runtime/devices/gpu/address_blocks.h"
#include "runtime/devices/gpu/gpu_context.h"

namespace mneme::device::gpu {

/// Not thread-safe. Destruction gives back everything that is still reserved, unless a kernel
/// hangs.
class AddressSpace {
public:
  explicit AddressSpace(Context& context);
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace();

  uint64_t granularity() const noexcept { return granularity_; }
  /// As Device::reserve(), map(), unmap() and release(). What is mapped in one call is unmapped
  /// as a whole.
  uint64_t reserve(uint64_t address, uint64_t sizeBytes);
  void release(uint64_t address, uint64_t sizeBytes) noexcept;
  void map(uint64_t address, uint64_t sizeBytes);
  void unmap(uint64_t address, uint64_t sizeBytes) noexcept;
  /// As Device::guardPageBytes() and mapGuard().
  uint64_t guardPageBytes() const noexcept;
  void mapGuard(uint64_t address, uint64_t sizeBytes);

  /// \throws Error{OutOfRange} if a part of the range is reserved here but has no memory: a kernel
  /// that accesses it would destroy the context. Foreign addresses are accepted.
  void requireAccess(uint64_t address, uint64_t sizeBytes, const char* what) const;

private:
  struct Reserved {
    uint64_t sizeBytes = 0;
    bool isShared = false; ///< in blocks_, because its address was chosen
  };
  MemoryHandle create(uint64_t sizeBytes);
  void mapPart(uint64_t address, uint64_t sizeBytes);
  Status mapGuardPage(uint64_t address);
  std::vector<std::pair<uint64_t, uint64_t>> partsOf(uint64_t address, uint64_t sizeBytes) const;
  bool isReserved(uint64_t address, uint64_t sizeBytes) const;
  uint64_t roundUp(uint64_t sizeBytes) const;

  Context& context_;
  AddressBlocks blocks_;
  uint64_t granularity_ = 0;
  std::map<uint64_t, Reserved> reserved_; ///< by address
  MemoryHandle guard_ = 0;                ///< made when it is needed first
  bool isGuardZero_ = false;
  std::map<uint64_t, uint64_t> mapped_; ///< address -> size, one entry per run
};

} // namespace mneme::device::gpu
