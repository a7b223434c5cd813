// Room recorder: the interface between the recorder's allocator, which manages addresses only, and
// the device that maps memory to them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace mneme::record {

/// Memory of one device at addresses of our choice. The caller serialises calls.
class MemoryBackend {
public:
  virtual ~MemoryBackend() = default;
  virtual uint64_t granularity() const = 0;
  /// Reserves exactly this range without memory. Returns false if it is not granted.
  virtual bool reserve(uint64_t address, uint64_t sizeBytes) = 0;
  /// Releases a reservation in which nothing is mapped.
  virtual void release(uint64_t address, uint64_t sizeBytes) noexcept = 0;
  /// Maps memory into a part of a reservation. Returns false if there is none.
  virtual bool map(uint64_t address, uint64_t sizeBytes) = 0;
  /// Unmaps exactly what one map() call mapped.
  virtual void unmap(uint64_t address, uint64_t sizeBytes) noexcept = 0;
  /// Lets another device use what one map() call mapped. Returns false if that is impossible.
  virtual bool share(uint64_t address, uint64_t sizeBytes, unsigned device) { return true; }

  // Guards around mapped memory, for kernels that read slightly outside: one page of zeros, mapped
  // repeatedly, that can be read and written.
  /// Returns 0 if the backend has no guard page.
  virtual uint64_t guardPageBytes() const { return 0; }
  /// Maps the page repeatedly into a part of a reservation where nothing is mapped. Returns false
  /// if that is impossible; then nothing is mapped there.
  virtual bool mapGuard(uint64_t address, uint64_t sizeBytes) { return false; }
  virtual void unmapGuard(uint64_t address, uint64_t sizeBytes) noexcept {}
};

/// Returns null for a device whose memory cannot be placed.
using MakeBackend = std::function<std::unique_ptr<MemoryBackend>(unsigned device)>;

/// The CPU device: host memory is device memory.
std::unique_ptr<MemoryBackend> makeHostBackend();

} // namespace mneme::record
