// The driver's functions as the parts call them that are the same for all vendors.
#include "runtime/devices/cuda/cuda_driver.h"

namespace mneme::device::cuda {

namespace {

CUmemAllocationProp memoryOf(int device) {
  CUmemAllocationProp properties;
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return properties;
}

} // namespace

std::string Driver::textOf(gpu::Status status) const {
  return describe(static_cast<CUresult>(status));
}

bool Driver::isLost(gpu::Status status) const noexcept {
  return isSticky(static_cast<CUresult>(status));
}

void Driver::raise(gpu::Status status, std::string_view what) const {
  fail(static_cast<CUresult>(status), what);
}

gpu::Status Driver::enter(CUcontext context, CUcontext*) const { return cuCtxPushCurrent(context); }

void Driver::leave(CUcontext) const noexcept {
  CUcontext ignored = nullptr;
  cuCtxPopCurrent(&ignored);
}

gpu::Status Driver::currentDevice(int* device) const { return cuCtxGetDevice(device); }

gpu::Status Driver::memoryGranularity(size_t* granularity, int device) const {
  const CUmemAllocationProp properties = memoryOf(device);
  return cuMemGetAllocationGranularity(granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}

gpu::Status Driver::reserveAddresses(uint64_t* granted, size_t sizeBytes, uint64_t wanted) const {
  CUdeviceptr address = 0;
  const CUresult result = cuMemAddressReserve(&address, sizeBytes, 0, wanted, 0);
  *granted = address;
  return result;
}

gpu::Status Driver::freeAddresses(uint64_t address, size_t sizeBytes) const {
  return cuMemAddressFree(address, sizeBytes);
}

gpu::Status Driver::createMemory(gpu::MemoryHandle* memory, int device, size_t sizeBytes,
                                 bool isForNetworks) const {
  CUmemAllocationProp properties = memoryOf(device);
  int isPossible = 0;
  if (isForNetworks &&
      cuDeviceGetAttribute(&isPossible, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
                           device) == CUDA_SUCCESS)
    properties.allocFlags.gpuDirectRDMACapable = isPossible != 0;
  CUmemGenericAllocationHandle handle = 0;
  CUresult result = cuMemCreate(&handle, sizeBytes, &properties, 0);
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY &&
      properties.allocFlags.gpuDirectRDMACapable) {
    properties.allocFlags.gpuDirectRDMACapable = 0;
    result = cuMemCreate(&handle, sizeBytes, &properties, 0);
  }
  *memory = handle;
  return result;
}

gpu::Status Driver::releaseMemory(gpu::MemoryHandle memory) const { return cuMemRelease(memory); }

gpu::Status Driver::mapMemory(uint64_t address, size_t sizeBytes, gpu::MemoryHandle memory) const {
  return cuMemMap(address, sizeBytes, 0, memory, 0);
}

gpu::Status Driver::unmapMemory(uint64_t address, size_t sizeBytes) const {
  return cuMemUnmap(address, sizeBytes);
}

gpu::Status Driver::allowAccess(uint64_t address, size_t sizeBytes, int device) const {
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device},
                               CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  return cuMemSetAccess(address, sizeBytes, &access, 1);
}

gpu::Status Driver::allowReading(uint64_t address, size_t sizeBytes, int device) const {
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device},
                               CU_MEM_ACCESS_FLAGS_PROT_READ};
  return cuMemSetAccess(address, sizeBytes, &access, 1);
}

gpu::Status Driver::memoryLeft(size_t* freeBytes, size_t* totalBytes) const {
  return cuMemGetInfo(freeBytes, totalBytes);
}

gpu::Status Driver::pin(void** pointer, size_t sizeBytes) const {
  return cuMemHostAlloc(pointer, sizeBytes, CU_MEMHOSTALLOC_PORTABLE);
}

gpu::Status Driver::unpin(void* pointer) const { return cuMemFreeHost(pointer); }

gpu::Status Driver::createStream(CUstream* stream) const {
  return cuStreamCreate(stream, CU_STREAM_NON_BLOCKING);
}

gpu::Status Driver::destroyStream(CUstream stream) const { return cuStreamDestroy(stream); }

gpu::Status Driver::waitForStream(CUstream stream) const { return cuStreamSynchronize(stream); }

gpu::Status Driver::queryStream(CUstream stream) const { return cuStreamQuery(stream); }

gpu::Status Driver::copyToDevice(uint64_t destination, const void* source, size_t sizeBytes,
                                 CUstream stream) const {
  return cuMemcpyHtoDAsync(destination, source, sizeBytes, stream);
}

gpu::Status Driver::copyToHost(void* destination, uint64_t source, size_t sizeBytes,
                               CUstream stream) const {
  return cuMemcpyDtoHAsync(destination, source, sizeBytes, stream);
}

gpu::Status Driver::copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes,
                                 CUstream stream) const {
  return cuMemcpyDtoDAsync(destination, source, sizeBytes, stream);
}

gpu::Status Driver::fill(uint64_t address, unsigned char value, size_t sizeBytes,
                         CUstream stream) const {
  return cuMemsetD8Async(address, value, sizeBytes, stream);
}

gpu::Status Driver::createEvent(CUevent* event, unsigned flags) const {
  return cuEventCreate(event, flags);
}

gpu::Status Driver::destroyEvent(CUevent event) const { return cuEventDestroy(event); }

gpu::Status Driver::recordEvent(CUevent event, CUstream stream) const {
  return cuEventRecord(event, stream);
}

gpu::Status Driver::queryEvent(CUevent event) const { return cuEventQuery(event); }

gpu::Status Driver::waitForEvent(CUevent event) const { return cuEventSynchronize(event); }

gpu::Status Driver::millisecondsBetween(float* elapsed, CUevent start, CUevent end) const {
  return cuEventElapsedTime(elapsed, start, end);
}

gpu::Status Driver::unloadModule(CUmodule module) const { return cuModuleUnload(module); }

gpu::Status Driver::functionIn(CUfunction* function, CUmodule module, const char* name) const {
  return cuModuleGetFunction(function, module, name);
}

gpu::Status Driver::startKernel(CUfunction function, uint32_t blocks, uint32_t threads,
                                CUstream stream, void* const* args) const {
  return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, const_cast<void**>(args),
                        nullptr);
}

} // namespace mneme::device::cuda
