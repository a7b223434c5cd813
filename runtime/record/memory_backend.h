// Room record: where the recorder's allocations live. The seam between the allocator, which knows
// addresses only, and the device that puts memory behind them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace mneme::record {

/// Memory of one device at addresses of our choice. Calls are serialised by the caller.
class MemoryBackend {
public:
  virtual ~MemoryBackend() = default;
  virtual uint64_t granularity() const = 0;
  /// Reserves exactly this range without memory; false if it is not granted.
  virtual bool reserve(uint64_t address, uint64_t sizeBytes) = 0;
  /// Gives a reservation back; nothing in it is mapped any more.
  virtual void release(uint64_t address, uint64_t sizeBytes) noexcept = 0;
  /// Puts memory behind a part of a reservation; false when there is none.
  virtual bool map(uint64_t address, uint64_t sizeBytes) = 0;
  /// Takes back exactly what one map() call mapped.
  virtual void unmap(uint64_t address, uint64_t sizeBytes) noexcept = 0;
  /// Lets another device use what one map() call mapped; false if that cannot be.
  virtual bool share(uint64_t address, uint64_t sizeBytes, unsigned device) { return true; }

  // Zeros around what is mapped, for kernels that read a little outside: one page that is at every
  // place, and can be read and written there.
  /// 0 for a backend that has none.
  virtual uint64_t guardPageBytes() const { return 0; }
  /// Puts the page at each place in a part of a reservation where nothing is mapped; false if it
  /// cannot be: nothing is there then.
  virtual bool mapGuard(uint64_t address, uint64_t sizeBytes) { return false; }
  virtual void unmapGuard(uint64_t address, uint64_t sizeBytes) noexcept {}
};

/// Null for a device whose memory cannot be placed.
using MakeBackend = std::function<std::unique_ptr<MemoryBackend>(unsigned device)>;

/// The CPU device: host memory is device memory.
std::unique_ptr<MemoryBackend> makeHostBackend();

} // namespace mneme::record
