#include "runtime/devices/gpu/device_range.h"

namespace mneme::device::gpu {

DeviceRange DeviceRange::allocate(const Driver& driver, int device, uint64_t sizeBytes) {
  size_t granularity = 0;
  driver.require(driver.memoryGranularity(&granularity, device), "asking for the GPU's page size");
  const uint64_t size = (sizeBytes + granularity - 1) / granularity * granularity;
  MemoryHandle handle = 0;
  driver.require(driver.createMemory(&handle, device, size, /*isForNetworks=*/false),
                 "allocating device memory");
  DeviceRange range;
  uint64_t address = 0;
  Status result = driver.reserveAddresses(&address, size, 0);
  if (result == kSuccess) {
    result = driver.mapMemory(address, size, handle);
    if (result == kSuccess) {
      range.driver_ = &driver;
      range.address_ = address;
      range.sizeBytes_ = size;
      result = driver.allowAccess(address, size, device);
    } else {
      driver.freeAddresses(address, size);
    }
  }
  driver.releaseMemory(handle); // the mapping keeps the memory
  driver.require(result, "mapping device memory");
  return range;
}

DeviceRange& DeviceRange::operator=(DeviceRange&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(sizeBytes_, other.sizeBytes_);
  return *this;
}

DeviceRange::~DeviceRange() {
  if (!driver_)
    return;
  driver_->unmapMemory(address_, sizeBytes_);
  driver_->freeAddresses(address_, sizeBytes_);
}

} // namespace mneme::device::gpu
