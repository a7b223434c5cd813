// Room devices/gpu: device memory that is freed without waiting for the device.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/devices/gpu/gpu_driver.h"

namespace mneme::device::gpu {

/// Memory at an address of the driver's choice, with undefined content. Nothing may use it any more
/// when it is destroyed: unlike the drivers' own functions, the destructor waits for no kernel.
/// Move-only.
class DeviceRange {
public:
  DeviceRange() = default;
  /// A context must be current. \throws Error{OutOfMemory, DeviceFailed}
  static DeviceRange allocate(const Driver& driver, int device, uint64_t sizeBytes);
  DeviceRange(DeviceRange&& other) noexcept { *this = std::move(other); }
  DeviceRange& operator=(DeviceRange&& other) noexcept;
  ~DeviceRange();

  uint64_t address() const noexcept { return address_; }
  uint64_t sizeBytes() const noexcept { return sizeBytes_; } ///< at least what was asked for

private:
  const Driver* driver_ = nullptr;
  uint64_t address_ = 0;
  uint64_t sizeBytes_ = 0;
};

} // namespace mneme::device::gpu
