// HIP's functions as the parts call them that are the same for all vendors.
#include "runtime/devices/hip/hip_driver.h"

#include <algorithm>

namespace mneme::device::hip {

namespace {

hipMemAllocationProp memoryOf(int device) {
  hipMemAllocationProp properties;
  properties.location.id = device;
  return properties;
}

constexpr size_t equalPartBytes = 2 << 20;

void* pointerTo(uint64_t address) { return reinterpret_cast<void*>(address); }

} // namespace

// Counted from 1: null is not a context.
gpu::ContextHandle contextOf(int device) noexcept {
  return reinterpret_cast<gpu::ContextHandle>(static_cast<intptr_t>(device) + 1);
}

gpu::Status Driver::enter(gpu::ContextHandle context, gpu::ContextHandle* before) const {
  int device = 0;
  if (hipGetDevice(&device) == hipSuccess)
    *before = contextOf(device);
  return hipSetDevice(static_cast<int>(reinterpret_cast<intptr_t>(context)) - 1);
}

void Driver::leave(gpu::ContextHandle before) const noexcept {
  if (before)
    hipSetDevice(static_cast<int>(reinterpret_cast<intptr_t>(before)) - 1);
}

gpu::Status Driver::currentDevice(int* device) const { return hipGetDevice(device); }

gpu::Status Driver::memoryGranularity(size_t* granularity, int device) const {
  const hipMemAllocationProp properties = memoryOf(device);
  const hipError_t result =
      hipMemGetAllocationGranularity(granularity, &properties, hipMemAllocationGranularityMinimum);
  if (result == hipSuccess && mapsEqualPartsOnly)
    *granularity = std::max(*granularity, equalPartBytes);
  return result;
}

// ROCm 7.0 to 7.2 sees whether hipMemSetAccess() is for whole mappings by adding up the sizes of
// the reservation's mappings from its first one on, wherever the address is: only with equal ones
// the sum fits (https://github.com/ROCm/rocm-systems/pull/2451).
uint64_t Driver::mappingBytes() const noexcept {
  return mapsEqualPartsOnly ? equalPartBytes : gpu::Driver::mappingBytes();
}

gpu::Status Driver::reserveAddresses(uint64_t* granted, size_t sizeBytes, uint64_t wanted) const {
  void* address = nullptr;
  const hipError_t result = hipMemAddressReserve(&address, sizeBytes, 0, pointerTo(wanted), 0);
  *granted = reinterpret_cast<uint64_t>(address);
  return result;
}

gpu::Status Driver::freeAddresses(uint64_t address, size_t sizeBytes) const {
  return hipMemAddressFree(pointerTo(address), sizeBytes);
}

gpu::Status Driver::createMemory(gpu::MemoryHandle* memory, int device, size_t sizeBytes,
                                 bool) const {
  const hipMemAllocationProp properties = memoryOf(device);
  hipMemGenericAllocationHandle_t handle = nullptr;
  const hipError_t result = hipMemCreate(&handle, sizeBytes, &properties, 0);
  *memory = reinterpret_cast<gpu::MemoryHandle>(handle);
  return result;
}

gpu::Status Driver::releaseMemory(gpu::MemoryHandle memory) const {
  return hipMemRelease(reinterpret_cast<hipMemGenericAllocationHandle_t>(memory));
}

gpu::Status Driver::mapMemory(uint64_t address, size_t sizeBytes, gpu::MemoryHandle memory) const {
  const hipError_t result = hipMemMap(pointerTo(address), sizeBytes, 0,
                                      reinterpret_cast<hipMemGenericAllocationHandle_t>(memory), 0);
  // ROCm up to 7 says success when nothing was mapped, and reads a null pointer when that is
  // unmapped; ROCm 6.1 maps nothing but whole reservations.
  unsigned long long access = 0;
  const hipMemLocation anyDevice;
  if (result == hipSuccess &&
      hipMemGetAccess(&access, &anyDevice, pointerTo(address)) != hipSuccess)
    return hipErrorMapFailed;
  return result;
}

gpu::Status Driver::unmapMemory(uint64_t address, size_t sizeBytes) const {
  return hipMemUnmap(pointerTo(address), sizeBytes);
}

gpu::Status Driver::allowAccess(uint64_t address, size_t sizeBytes, int device) const {
  hipMemAccessDesc access;
  access.location.id = device;
  return hipMemSetAccess(pointerTo(address), sizeBytes, &access, 1);
}

gpu::Status Driver::memoryLeft(size_t* freeBytes, size_t* totalBytes) const {
  return hipMemGetInfo(freeBytes, totalBytes);
}

gpu::Status Driver::pin(void** pointer, size_t sizeBytes) const {
  return hipHostMalloc(pointer, sizeBytes, hipHostMallocPortable);
}

gpu::Status Driver::unpin(void* pointer) const { return hipHostFree(pointer); }

gpu::Status Driver::createStream(hipStream_t* stream) const {
  return hipStreamCreateWithFlags(stream, hipStreamNonBlocking);
}

gpu::Status Driver::destroyStream(hipStream_t stream) const { return hipStreamDestroy(stream); }

gpu::Status Driver::waitForStream(hipStream_t stream) const { return hipStreamSynchronize(stream); }

gpu::Status Driver::queryStream(hipStream_t stream) const { return hipStreamQuery(stream); }

gpu::Status Driver::copyToDevice(uint64_t destination, const void* source, size_t sizeBytes,
                                 hipStream_t stream) const {
  return hipMemcpyHtoDAsync(pointerTo(destination), const_cast<void*>(source), sizeBytes, stream);
}

gpu::Status Driver::copyToHost(void* destination, uint64_t source, size_t sizeBytes,
                               hipStream_t stream) const {
  return hipMemcpyDtoHAsync(destination, pointerTo(source), sizeBytes, stream);
}

gpu::Status Driver::copyOnDevice(uint64_t destination, uint64_t source, size_t sizeBytes,
                                 hipStream_t stream) const {
  return hipMemcpyDtoDAsync(pointerTo(destination), pointerTo(source), sizeBytes, stream);
}

gpu::Status Driver::fill(uint64_t address, unsigned char value, size_t sizeBytes,
                         hipStream_t stream) const {
  return hipMemsetD8Async(pointerTo(address), value, sizeBytes, stream);
}

gpu::Status Driver::createEvent(hipEvent_t* event, unsigned flags) const {
  return hipEventCreateWithFlags(event, flags);
}

gpu::Status Driver::destroyEvent(hipEvent_t event) const { return hipEventDestroy(event); }

gpu::Status Driver::recordEvent(hipEvent_t event, hipStream_t stream) const {
  return hipEventRecord(event, stream);
}

gpu::Status Driver::queryEvent(hipEvent_t event) const { return hipEventQuery(event); }

gpu::Status Driver::waitForEvent(hipEvent_t event) const { return hipEventSynchronize(event); }

gpu::Status Driver::millisecondsBetween(float* elapsed, hipEvent_t start, hipEvent_t end) const {
  return hipEventElapsedTime(elapsed, start, end);
}

gpu::Status Driver::unloadModule(hipModule_t module) const { return hipModuleUnload(module); }

gpu::Status Driver::functionIn(hipFunction_t* function, hipModule_t module,
                               const char* name) const {
  return hipModuleGetFunction(function, module, name);
}

gpu::Status Driver::startKernel(hipFunction_t function, uint32_t blocks, uint32_t threads,
                                hipStream_t stream, void* const* args) const {
  return hipModuleLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream,
                               const_cast<void**>(args), nullptr);
}

} // namespace mneme::device::hip
