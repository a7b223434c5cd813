// Room record: GPUs under a vendor's own runtime, for all vendors alike: the driver in the
// application's own contexts, past the runtime. No symbol of the application is taken over here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/base/last_error.h"
#include "runtime/device/gpu/bulk_code.h"
#include "runtime/device/gpu/driver.h"
#include "runtime/record/device_access.h"
#include "runtime/record/memory_backend.h"

namespace mneme::record::gpu {

using device::gpu::ContextHandle;
using device::gpu::Driver;
using device::gpu::StreamHandle;

/// What the recorder asks of a vendor beside device::gpu::Driver. Thread-safe; the context of the
/// device in question is current.
class Vendor {
public:
  explicit Vendor(const Driver& driver) : driver_(driver) {}
  virtual ~Vendor() = default;
  const Driver& driver() const noexcept { return driver_; }

  /// \throws as Driver::raise()
  virtual uint32_t multiprocessors(int device) const = 0;
  /// Of a thread of ours: what it does spoils no capture of the application's into a graph.
  virtual void keepOffCaptures() const noexcept = 0;
  /// While it lives, what is called here leaves no error that the application sees.
  virtual KeepsLastError keepLastError() const noexcept { return {nullptr, nullptr}; }

  /// Nothing for memory that the vendor does not know.
  virtual std::optional<bool> isHostMemory(uint64_t address) const noexcept = 0;
  /// The allocation around an address; false if there is none, or nobody may use it.
  virtual bool allocationAt(uint64_t address, uint64_t& start,
                            uint64_t& sizeBytes) const noexcept = 0;
  /// Whether a device may use memory that the program maps itself; true for other memory.
  virtual bool mayUse(uint64_t address, int device) const noexcept { return true; }
  /// The device whose memory it is; -1 if that cannot be told.
  virtual int deviceOf(uint64_t address) const noexcept = 0;

  virtual const device::gpu::BulkCode& bulkCode() const = 0;

  /// Whether memory can be placed at addresses of our choice.
  virtual bool canPlace(int device) const noexcept = 0;
  /// The driver's number of a device the application counts so, if that can use memory of `owner`;
  /// else -1.
  virtual int peerOf(int owner, unsigned ordinal) const noexcept = 0;

private:
  const Driver& driver_;
};

/// One GPU as the application uses it. Valid until the device is reset.
struct Side {
  const Vendor* vendor = nullptr;
  ContextHandle context = nullptr;
  int device = 0; ///< the driver's number

  const Driver& driver() const noexcept { return vendor->driver(); }
};

/// Memory at chosen addresses by the driver's virtual memory functions; null where it has none.
std::unique_ptr<MemoryBackend> makeMemory(const Side& side);

/// Copies and hashes on the GPU. `streamOf` gives the stream of a launch.
std::unique_ptr<DeviceAccess> makeAccess(const Side& side,
                                         void* (*streamOf)(const mneme_launch& launch));

} // namespace mneme::record::gpu
