// Room record: where the recorder's allocations live. The seam between the allocator, which knows
// addresses only, and the device that puts memory behind them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/base/hash.h"

namespace mneme::record {

/// Memory of one device at addresses of our choice. Calls are serialised by the caller, except
/// hashPages() and copyToHost(), which only read.
class MemoryBackend {
public:
  virtual ~MemoryBackend() = default;
  virtual uint64_t granularity() const = 0;
  /// Reserves exactly this range without memory; false if it is not granted.
  virtual bool reserve(uint64_t address, uint64_t sizeBytes) = 0;
  /// Puts zeroed memory behind a part of a reservation; false when there is none.
  virtual bool map(uint64_t address, uint64_t sizeBytes) = 0;
  virtual void unmap(uint64_t address, uint64_t sizeBytes) noexcept = 0;

  /// hashes[i] = hash128 of page i; the last page may be short.
  virtual void hashPages(uint64_t address, uint64_t sizeBytes, uint64_t pageBytes,
                         std::span<Hash128> hashes) const = 0;
  virtual void copyToHost(void* destination, uint64_t source, uint64_t sizeBytes) const = 0;
};

/// The CPU device: host memory is device memory. Hashes on several threads.
std::unique_ptr<MemoryBackend> makeHostBackend();

} // namespace mneme::record
