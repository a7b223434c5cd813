// Allocations of the CUDA driver API, and what pointers are.
#include <cstring>

#include "runtime/core/abi/cpu_driver_services.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/cuda_driver/forward.h"

using namespace mneme::cpu_runtime::cuda_driver;

namespace {

constexpr int kDeviceKind = 0, kManagedKind = 1, kHostKind = 2; // of mneme_cudart_find_allocation()

struct Allocation {
  void* base = nullptr;
  size_t bytes = 0;
  int kind = kHostKind;
};

template <typename Value> int put(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

int tell(void* data, int attribute, CUdeviceptr pointer, const Allocation& found) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_CONTEXT:
    return put(data, currentContext());
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return put(data, found.kind == kHostKind ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return put(data, pointer);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    return found.kind == kDeviceKind ? CUDA_ERROR_INVALID_VALUE : put(data, pointer);
  case 6: // synchronous memory operations
    return put(data, 0u);
  case 7: // a number for the allocation
    return put(data, reinterpret_cast<unsigned long long>(found.base));
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return put(data, found.kind == kManagedKind ? 1u : 0u);
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return put(data, 0);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return put(data, found.base);
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return put(data, found.bytes);
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return put(data, 1u);
  default:
    return CUDA_ERROR_NOT_SUPPORTED;
  }
}

int findAllocation(CUdeviceptr pointer, Allocation& found) {
  return mneme_cudart_find_allocation(asPointer(pointer), &found.base, &found.bytes, &found.kind);
}

/// What foreign memory answers to cuPointerGetAttributes().
int tellNothing(void* data, int attribute) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return put(data, 0u);
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return put(data, -2);
  default:
    return put(data, 0ull);
  }
}

} // namespace

MNEME_RUNTIME_API int cuMemGetInfo_v2(size_t* freeBytes, size_t* totalBytes) {
  return forward<"cudaMemGetInfo">(freeBytes, totalBytes);
}

MNEME_RUNTIME_API int cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return bytes ? forward<"cudaMalloc">(asPointer(address), bytes) : CUDA_ERROR_INVALID_VALUE;
}

MNEME_RUNTIME_API int cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width,
                                         size_t height, unsigned elementBytes) {
  const bool isElement = elementBytes == 4 || elementBytes == 8 || elementBytes == 16;
  return isElement && width && height
             ? forward<"cudaMallocPitch">(asPointer(address), pitch, width, height)
             : CUDA_ERROR_INVALID_VALUE;
}

MNEME_RUNTIME_API int cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return bytes ? forward<"cudaMallocManaged">(asPointer(address), bytes, flags)
               : CUDA_ERROR_INVALID_VALUE;
}

MNEME_RUNTIME_API int cuMemAllocAsync(CUdeviceptr* address, size_t bytes, void* stream) {
  return forward<"cudaMallocAsync">(asPointer(address), bytes, stream);
}

MNEME_RUNTIME_API int cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, void* pool,
                                              void* stream) {
  return forward<"cudaMallocFromPoolAsync">(asPointer(address), bytes, pool, stream);
}

MNEME_RUNTIME_API int cuMemFree_v2(CUdeviceptr address) {
  return forward<"cudaFree">(asPointer(address));
}

MNEME_RUNTIME_API int cuMemFreeAsync(CUdeviceptr address, void* stream) {
  return forward<"cudaFreeAsync">(asPointer(address), stream);
}

MNEME_RUNTIME_API int cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return forward<"cudaMallocHost">(pointer, bytes);
}

MNEME_RUNTIME_API int cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return forward<"cudaHostAlloc">(pointer, bytes, flags);
}

MNEME_RUNTIME_API int cuMemFreeHost(void* pointer) { return forward<"cudaFreeHost">(pointer); }

MNEME_RUNTIME_API int cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  return forward<"cudaHostRegister">(pointer, bytes, flags);
}

MNEME_RUNTIME_API int cuMemHostUnregister(void* pointer) {
  return forward<"cudaHostUnregister">(pointer);
}

MNEME_RUNTIME_API int cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host,
                                                   unsigned flags) {
  return forward<"cudaHostGetDevicePointer">(asPointer(address), host, flags);
}

MNEME_RUNTIME_API int cuMemHostGetFlags(unsigned* flags, void* host) {
  return forward<"cudaHostGetFlags">(flags, host);
}

/// Where managed memory is to be makes no difference: the further parameters, which differ between
/// versions, are not read.
MNEME_RUNTIME_API int cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes) {
  return forward<"cudaMemPrefetchAsync">(static_cast<const void*>(asPointer(address)), bytes);
}

MNEME_RUNTIME_API int cuMemAdvise_v2(CUdeviceptr address, size_t bytes) {
  return forward<"cudaMemAdvise">(static_cast<const void*>(asPointer(address)), bytes);
}

MNEME_RUNTIME_API int cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes,
                                              CUdeviceptr address) {
  Allocation found;
  if (findAllocation(address, found) != CUDA_SUCCESS)
    return CUDA_ERROR_NOT_FOUND;
  if (base)
    *base = reinterpret_cast<CUdeviceptr>(found.base);
  if (bytes)
    *bytes = found.bytes;
  return CUDA_SUCCESS;
}

MNEME_RUNTIME_API int cuPointerGetAttribute(void* data, int attribute, CUdeviceptr pointer) {
  Allocation found;
  if (!data || findAllocation(pointer, found) != CUDA_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  return tell(data, attribute, pointer, found);
}

MNEME_RUNTIME_API int cuPointerGetAttributes(unsigned count, const int* attributes, void** data,
                                             CUdeviceptr pointer) {
  if (!attributes || !data)
    return CUDA_ERROR_INVALID_VALUE;
  Allocation found;
  const bool isOurs = findAllocation(pointer, found) == CUDA_SUCCESS;
  for (unsigned index = 0; index < count; ++index)
    if (!isOurs || tell(data[index], attributes[index], pointer, found) != CUDA_SUCCESS)
      tellNothing(data[index], attributes[index]);
  return CUDA_SUCCESS;
}

MNEME_RUNTIME_API int cuDeviceGetDefaultMemPool(void** pool, int device) {
  return forward<"cudaDeviceGetDefaultMemPool">(pool, device);
}

MNEME_RUNTIME_API int cuDeviceGetMemPool(void** pool, int device) {
  return forward<"cudaDeviceGetMemPool">(pool, device);
}

MNEME_RUNTIME_API int cuDeviceSetMemPool(int device, void* pool) {
  return forward<"cudaDeviceSetMemPool">(device, pool);
}

MNEME_RUNTIME_API int cuMemPoolCreate(void** pool, const void* properties) {
  return forward<"cudaMemPoolCreate">(pool, properties);
}

MNEME_RUNTIME_API int cuMemPoolDestroy(void* pool) { return forward<"cudaMemPoolDestroy">(pool); }

MNEME_RUNTIME_API int cuMemPoolTrimTo(void* pool, size_t bytes) {
  return forward<"cudaMemPoolTrimTo">(pool, bytes);
}

MNEME_RUNTIME_API int cuMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return forward<"cudaMemPoolSetAttribute">(pool, attribute, value);
}

MNEME_RUNTIME_API int cuMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return forward<"cudaMemPoolGetAttribute">(pool, attribute, value);
}
