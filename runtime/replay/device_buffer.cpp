#include "runtime/replay/device_buffer.h"

namespace mneme::replay {

DeviceBuffer DeviceBuffer::reserve(device::Device& device, uint64_t address, uint64_t sizeBytes) {
  const uint64_t granted = device.reserve(address, sizeBytes);
  DeviceBuffer buffer;
  buffer.device_ = &device;
  buffer.address_ = granted;
  buffer.sizeBytes_ = sizeBytes;
  return buffer;
}

DeviceBuffer DeviceBuffer::allocate(device::Device& device, uint64_t sizeBytes) {
  DeviceBuffer buffer = reserve(device, 0, sizeBytes);
  buffer.map(buffer.address(), sizeBytes);
  return buffer;
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(address_, other.address_);
  std::swap(sizeBytes_, other.sizeBytes_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (!device_)
    return;
  for (const auto& [address, size] : mapped_)
    device_->unmap(address, size);
  device_->release(address_, sizeBytes_);
}

void DeviceBuffer::map(uint64_t address, uint64_t sizeBytes) {
  mapped_.reserve(mapped_.size() + 1);
  device_->map(address, sizeBytes);
  mapped_.emplace_back(address, sizeBytes);
}

void DeviceBuffer::mapGuard(uint64_t address, uint64_t sizeBytes) {
  mapped_.reserve(mapped_.size() + 1);
  device_->mapGuard(address, sizeBytes);
  mapped_.emplace_back(address, sizeBytes);
}

} // namespace mneme::replay
