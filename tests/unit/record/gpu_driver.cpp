// The fake driver of device_cuda as a program under a recorder needs it: with a primary context
// that is current, pointers that can be asked about, and plain allocations.
#define cuCtxGetCurrent deviceCtxGetCurrent
#define cuPointerGetAttribute devicePointerGetAttribute
#define cuMemcpyDtoH_v2 deviceMemcpyDtoH
#define cuCtxPushCurrent_v2 deviceCtxPushCurrent
#define cuCtxPopCurrent_v2 deviceCtxPopCurrent
#include "tests/unit/device_cuda/fake_driver.cpp"
#include "tests/unit/device_cuda/fake_queue.cpp"
#undef cuCtxGetCurrent
#undef cuPointerGetAttribute
#undef cuMemcpyDtoH_v2
#undef cuCtxPushCurrent_v2
#undef cuCtxPopCurrent_v2

FAKE(cuCtxGetCurrent, CUcontext* context) {
  depth = 1; // copies ask for it
  return cuDevicePrimaryCtxRetain(context, 0);
}
FAKE(cuCtxPushCurrent_v2, CUcontext) { return depth = 1, CUDA_SUCCESS; }
FAKE(cuCtxPopCurrent_v2, CUcontext* context) { return *context = nullptr, CUDA_SUCCESS; }

FAKE(cuPointerGetAttribute, void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  switch (attribute) {
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return *static_cast<unsigned*>(data) = CU_MEMORYTYPE_DEVICE, CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return *static_cast<int*>(data) = 0, CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return *static_cast<CUdeviceptr*>(data) = address, CUDA_SUCCESS;
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return *static_cast<size_t*>(data) = size_t{1} << 40, CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

FAKE(cuMemcpyDtoH_v2, void* destination, CUdeviceptr source, size_t size) {
  memcpy(destination, pointerTo(source), size);
  return CUDA_SUCCESS;
}
