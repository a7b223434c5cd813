// Room recorder: GPUs used through a vendor's own runtime, shared by all vendors. Uses the driver
// in the application's own contexts, bypassing the runtime. Interposes no symbols of the
// application.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/core/base/last_error.h"
#include "runtime/core/base/word_ranges.h"
#include "runtime/devices/gpu/gpu_bulk_code.h"
#include "runtime/devices/gpu/gpu_driver.h"
#include "runtime/recorder/device_access.h"
#include "runtime/recorder/memory_backend.h"

namespace mneme::record::gpu {

using device::gpu::ContextHandle;
using device::gpu::Driver;
using device::gpu::StreamHandle;

/// What the recorder needs from a vendor in addition to device::gpu::Driver. Thread-safe; the
/// context of the device concerned is current.
class Vendor {
public:
  explicit Vendor(const Driver& driver) : driver_(driver) {}
  virtual ~Vendor() = default;
  const Driver& driver() const noexcept { return driver_; }

  /// \throws as Driver::raise()
  virtual uint32_t multiprocessors(int device) const = 0;
  /// Called on mneme's own threads, so that their calls do not invalidate the application's graph
  /// captures.
  virtual void keepOffCaptures() const noexcept = 0;
  /// While the result exists, calls made here leave no error that the application could see.
  virtual KeepsLastError keepLastError() const noexcept { return {nullptr, nullptr}; }

  /// Returns none for memory that the vendor does not know.
  virtual std::optional<bool> isHostMemory(uint64_t address) const noexcept = 0;
  /// Finds the allocation that contains an address; returns false if there is none or it is not
  /// accessible.
  virtual bool allocationAt(uint64_t address, uint64_t& start,
                            uint64_t& sizeBytes) const noexcept = 0;
  /// Returns whether a device may use memory that the program maps itself; true for other memory.
  virtual bool mayUse(uint64_t address, int device) const noexcept { return true; }
  /// Returns the device that owns the memory; -1 if unknown.
  virtual int deviceOf(uint64_t address) const noexcept = 0;
  /// Returns whether memory of the device is another context's than this, whose kernels may not be
  /// able to read it.
  virtual bool isOfOther(ContextHandle context, uint64_t address) const noexcept { return false; }

  /// Returns the heap of the current context, from which kernels allocate; empty if it cannot be
  /// found. The device is idle. Waits no longer than `atMost` for a kernel in `stream`.
  /// \throws Error
  virtual AddressRange heap(StreamHandle stream, std::chrono::nanoseconds atMost) const {
    return {};
  }

  virtual const device::gpu::BulkCode& bulkCode() const = 0;

  /// Returns whether kernels can use pageable memory of the host, at its own addresses.
  virtual bool usesPageable(int device) const noexcept { return false; }
  /// Returns whether memory can be placed at chosen addresses.
  virtual bool canPlace(int device) const noexcept = 0;
  /// Converts the application's device number `ordinal` to the driver's number, if that device can
  /// use memory of `owner`; otherwise returns -1.
  virtual int peerOf(int owner, unsigned ordinal) const noexcept = 0;

private:
  const Driver& driver_;
};

/// A GPU as the application uses it. Valid until the device is reset.
struct Side {
  const Vendor* vendor = nullptr;
  ContextHandle context = nullptr;
  int device = 0; ///< the driver's number

  const Driver& driver() const noexcept { return vendor->driver(); }
};

/// Remembers whether kernels can use pageable memory of the host, on the first device asked about.
/// Thread-safe.
class PageableUse {
public:
  bool isSo(Side (*currentSide)() noexcept) const noexcept {
    if (const int known = known_.load(std::memory_order_relaxed); known >= 0)
      return known != 0;
    const Side side = currentSide();
    if (!side.vendor) // not yet
      return false;
    const KeepsLastError keeps = side.vendor->keepLastError();
    const bool isSo = side.vendor->usesPageable(side.device);
    known_.store(isSo, std::memory_order_relaxed);
    return isSo;
  }

private:
  mutable std::atomic<int> known_{-1};
};

/// Returns memory at chosen addresses, using the driver's virtual memory functions; null if the
/// driver has none.
std::unique_ptr<MemoryBackend> makeMemory(const Side& side);

/// Returns the operations that copy and hash on the GPU. `streamOf` returns the stream of a launch.
std::unique_ptr<DeviceAccess> makeAccess(const Side& side,
                                         void* (*streamOf)(const mneme_launch& launch));

} // namespace mneme::record::gpu
