// Room devices: what a GPU does for bulk operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mneme::device {

/// The kernels come in modules, so that a user of one does not pay for loading the others.
enum class BulkModule : uint8_t {
  Memory,  ///< hash, diff, copy
  Compare, ///< verification with tolerances
};

/// The interface that bulk operations use: one queue of kernels and copies, executed in order.
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
  /// Returns device memory of at least this size, valid until the next call. It grows as needed.
  virtual uint64_t scratch(size_t sizeBytes) = 0;
  virtual uint32_t multiprocessors() const = 0;
};

} // namespace mneme::device
