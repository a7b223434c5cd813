// Room replay: ownership of device memory.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/devices/device.h"

namespace mneme::replay {

/// A reserved range of device addresses with memory behind parts of it, released on destruction.
/// Must not outlive its device. Move-only.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  /// Reserves [address, address + sizeBytes); address 0 lets the device choose.
  /// \throws Error{AddressUnavailable, OutOfMemory}
  static DeviceBuffer reserve(device::Device& device, uint64_t address, uint64_t sizeBytes);
  /// Reserves anywhere and maps everything; zeroed. \throws Error{OutOfMemory}
  static DeviceBuffer allocate(device::Device& device, uint64_t sizeBytes);

  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  /// Puts zeroed memory behind a part that has none yet. \throws Error{OutOfMemory}
  void map(uint64_t address, uint64_t sizeBytes);
  /// Like Device::mapGuard(), in a part without memory.
  void mapGuard(uint64_t address, uint64_t sizeBytes);
  uint64_t address() const noexcept { return address_; }
  uint64_t sizeBytes() const noexcept { return sizeBytes_; }
  explicit operator bool() const noexcept { return device_ != nullptr; }

private:
  device::Device* device_ = nullptr;
  uint64_t address_ = 0;
  uint64_t sizeBytes_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> mapped_;
};

} // namespace mneme::replay
