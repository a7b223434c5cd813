#include "runtime/device/cuda/device_range.h"

#include "runtime/base/error.h"

namespace mneme::device::cuda {

DeviceRange DeviceRange::allocate(const Driver& driver, CUdevice device, uint64_t sizeBytes) {
  CUmemAllocationProp properties;
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  size_t granularity = 0;
  check(driver.cuMemGetAllocationGranularity(&granularity, &properties,
                                             CU_MEM_ALLOC_GRANULARITY_MINIMUM),
        "asking for the GPU's page size");
  const uint64_t size = (sizeBytes + granularity - 1) / granularity * granularity;
  CUmemGenericAllocationHandle handle = 0;
  check(driver.cuMemCreate(&handle, size, &properties, 0), "allocating device memory");
  DeviceRange range;
  CUdeviceptr address = 0;
  CUresult result = driver.cuMemAddressReserve(&address, size, 0, 0, 0);
  if (result == CUDA_SUCCESS) {
    result = driver.cuMemMap(address, size, 0, handle, 0);
    if (result == CUDA_SUCCESS) {
      range.driver_ = &driver;
      range.address_ = address;
      range.sizeBytes_ = size;
      const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
      result = driver.cuMemSetAccess(address, size, &access, 1);
    } else {
      driver.cuMemAddressFree(address, size);
    }
  }
  driver.cuMemRelease(handle); // the mapping keeps the memory
  check(result, "mapping device memory");
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
  driver_->cuMemUnmap(address_, sizeBytes_);
  driver_->cuMemAddressFree(address_, sizeBytes_);
}

} // namespace mneme::device::cuda
