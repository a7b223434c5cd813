#include <string>

#include "runtime/base/log.h"
#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/shared_parts.h"
#include "runtime/record/backends/cuda/gpu.h"

namespace mneme::record::gpu {
namespace {

using namespace device::cuda;

class GpuBackend final : public MemoryBackend {
public:
  GpuBackend(const Side& side, uint64_t granularity, const CUmemAllocationProp& properties)
      : side_(side), granularity_(granularity), properties_(properties), blocks_(*side.driver) {}

  uint64_t granularity() const override { return granularity_; }

  bool reserve(uint64_t address, uint64_t sizeBytes) override {
    return blocks_.take(address, sizeBytes);
  }

  void release(uint64_t address, uint64_t sizeBytes) noexcept override {
    blocks_.give(address, sizeBytes);
  }

  bool map(uint64_t address, uint64_t sizeBytes) override {
    const Driver& driver = *side_.driver;
    CUmemGenericAllocationHandle handle = 0;
    if (create(sizeBytes, handle) != CUDA_SUCCESS)
      return false;
    const CUresult mapped = driver.cuMemMap(address, sizeBytes, 0, handle, 0);
    driver.cuMemRelease(handle); // the mapping keeps the memory
    if (mapped != CUDA_SUCCESS)
      return refuse("mapping device memory", mapped);
    if (const CUresult result = setAccess(address, sizeBytes, side_.device);
        result != CUDA_SUCCESS) {
      driver.cuMemUnmap(address, sizeBytes);
      return refuse("making device memory accessible", result);
    }
    return true;
  }

  void unmap(uint64_t address, uint64_t sizeBytes) noexcept override {
    if (const CUresult result = side_.driver->cuMemUnmap(address, sizeBytes);
        result != CUDA_SUCCESS)
      refuse("unmapping device memory", result);
  }

  bool share(uint64_t address, uint64_t sizeBytes, unsigned device) override {
    const Driver& driver = *side_.driver;
    CUdevice other = 0;
    int canAccess = 0;
    return driver.cuDeviceGet(&other, static_cast<int>(device)) == CUDA_SUCCESS &&
           driver.cuDeviceCanAccessPeer(&canAccess, other, side_.device) == CUDA_SUCCESS &&
           canAccess && setAccess(address, sizeBytes, other) == CUDA_SUCCESS;
  }

private:
  CUresult create(uint64_t sizeBytes, CUmemGenericAllocationHandle& handle) {
    CUresult result = side_.driver->cuMemCreate(&handle, sizeBytes, &properties_, 0);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY &&
        properties_.allocFlags.gpuDirectRDMACapable) {
      properties_.allocFlags.gpuDirectRDMACapable = 0;
      result = side_.driver->cuMemCreate(&handle, sizeBytes, &properties_, 0);
    }
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY)
      refuse("allocating device memory", result);
    return result;
  }

  CUresult setAccess(uint64_t address, uint64_t sizeBytes, CUdevice device) const {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return side_.driver->cuMemSetAccess(address, sizeBytes, &access, 1);
  }

  static bool refuse(const char* what, CUresult result) noexcept {
    try {
      log(LogLevel::Warn, std::string(what) + " at a chosen address failed: " + describe(result));
    } catch (const std::exception&) { // no memory for a log line: the application matters more
    }
    return false;
  }

  Side side_;
  uint64_t granularity_;
  CUmemAllocationProp properties_;
  AddressBlocks blocks_;
};

} // namespace

Side currentSide() noexcept {
  const Driver* driver = Driver::find();
  Side side;
  if (!driver || driver->cuCtxGetCurrent(&side.context) != CUDA_SUCCESS || !side.context ||
      driver->cuCtxGetDevice(&side.device) != CUDA_SUCCESS ||
      primaryContext(*driver, side.device) != side.context)
    return {};
  side.driver = driver;
  return side;
}

std::unique_ptr<MemoryBackend> makeMemory(const Side& side) {
  if (!side.driver)
    return nullptr;
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    return side.driver->cuDeviceGetAttribute(&value, which, side.device) == CUDA_SUCCESS ? value
                                                                                         : 0;
  };
  if (!attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
    return nullptr;
  CUmemAllocationProp properties;
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, side.device};
  // As the vendor's own allocations: network cards may read it.
  properties.allocFlags.gpuDirectRDMACapable =
      attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED) ? 1 : 0;
  size_t granularity = 0;
  if (side.driver->cuMemGetAllocationGranularity(
          &granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS ||
      granularity == 0)
    return nullptr;
  return std::make_unique<GpuBackend>(side, granularity, properties);
}

} // namespace mneme::record::gpu
