// Devices, contexts and memory of the driver without a GPU.
#include "fake_driver.h"

#include <sys/mman.h>

using namespace fake;

fake::Application fake::application;

extern "C" __attribute__((visibility("default"))) Application* fakeApplication() {
  return &application;
}

FAKE(cuInit, unsigned) { return verdict("cuInit"); }
FAKE(cuDriverGetVersion, int* version) { return *version = 13000, CUDA_SUCCESS; }
FAKE(cuGetErrorName, CUresult error, const char** text) {
  *text = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == CUDA_ERROR_NO_DEVICE     ? "CUDA_ERROR_NO_DEVICE"
          : error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                              : "CUDA_ERROR_OTHER";
  return CUDA_SUCCESS;
}
FAKE(cuGetErrorString, CUresult error, const char** text) {
  *text = error == CUDA_ERROR_ILLEGAL_ADDRESS     ? "an illegal memory access was encountered"
          : error == CUDA_ERROR_NO_DEVICE         ? "no CUDA-capable device is detected"
          : error == CUDA_ERROR_OUT_OF_MEMORY     ? "out of memory"
          : error == CUDA_ERROR_NO_BINARY_FOR_GPU ? "no kernel image is available for execution"
          : error == CUDA_ERROR_UNKNOWN           ? "unknown error"
                                                  : "some other error";
  return CUDA_SUCCESS;
}
FAKE(cuDeviceGet, CUdevice* device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
FAKE(cuDeviceGetCount, int* count) { return *count = 2, verdict("cuDeviceGetCount"); }
FAKE(cuDeviceGetName, char* name, int length, CUdevice device) {
  snprintf(name, length, "Fake GPU %d", device);
  return CUDA_SUCCESS;
}
FAKE(cuDeviceGetAttribute, int* value, CUdevice_attribute attribute, CUdevice) {
  static const std::map<int, int> values = {
      {1, 1024},  {2, 1024},    {3, 1024},   {4, 64},  {5, 2147483647}, {6, 65535}, {7, 65535},
      {8, 49152}, {10, 32},     {12, 65536}, {16, 4},  {38, 4 << 20},   {75, 9},    {76, 0},
      {95, 1},    {97, 232448}, {102, 1},    {110, 1}, {120, 1}};
  const auto found = values.find(attribute);
  *value = found == values.end() ? 0 : found->second;
  return CUDA_SUCCESS;
}
FAKE(cuDeviceTotalMem_v2, size_t* bytes, CUdevice) { return *bytes = totalBytes, CUDA_SUCCESS; }
FAKE(cuDeviceCanAccessPeer, int* can, CUdevice, CUdevice) { return *can = 0, CUDA_SUCCESS; }
FAKE(cuDevicePrimaryCtxRetain, CUcontext* context, CUdevice device) {
  *context = primaryOf(device);
  return verdict("cuDevicePrimaryCtxRetain");
}
FAKE(cuDevicePrimaryCtxRelease_v2, CUdevice) {
  if (state().isHung)
    wouldHang("cuDevicePrimaryCtxRelease");
  return CUDA_SUCCESS;
}
FAKE(cuDevicePrimaryCtxGetState, CUdevice, unsigned* flags, int* isActive) {
  return *flags = 0, *isActive = 1, CUDA_SUCCESS;
}
FAKE(cuCtxPushCurrent_v2, CUcontext) { return ++depth, CUDA_SUCCESS; }
FAKE(cuCtxPopCurrent_v2, CUcontext* context) { return --depth, *context = nullptr, CUDA_SUCCESS; }
FAKE(cuCtxGetCurrent, CUcontext* context) {
  *context = depth == 0 ? application.current : reinterpret_cast<CUcontext>(uintptr_t(depth));
  return CUDA_SUCCESS;
}
FAKE(cuCtxGetDevice, CUdevice* device) { return *device = application.device, CUDA_SUCCESS; }
FAKE(cuCtxGetId, CUcontext context, unsigned long long* id) {
  *id = 1;
  for (int device : {0, 1})
    if (context == primaryOf(device))
      *id = application.lives[device];
  return verdict("cuCtxGetId");
}
FAKE(cuCtxSynchronize) {
  GUARD("cuCtxSynchronize");
  return CUDA_SUCCESS;
}
namespace {
std::map<CUlimit, size_t> limits = {{CU_LIMIT_STACK_SIZE, 1024},
                                    {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20}};
} // namespace
FAKE(cuCtxSetLimit, CUlimit limit, size_t value) {
  GUARD("cuCtxSetLimit");
  return limits[limit] = value, CUDA_SUCCESS;
}
FAKE(cuCtxGetLimit, size_t* value, CUlimit limit) { return *value = limits[limit], CUDA_SUCCESS; }
FAKE(cuCtxEnablePeerAccess, CUcontext, unsigned) { return CUDA_SUCCESS; }

FAKE(cuMemGetInfo_v2, size_t* free, size_t* total) {
  return *free = totalBytes - state().usedBytes, *total = totalBytes, CUDA_SUCCESS;
}
FAKE(cuMemAlloc_v2, CUdeviceptr*, size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
FAKE(cuMemFree_v2, CUdeviceptr) { return CUDA_ERROR_NOT_SUPPORTED; }
FAKE(cuMemGetAddressRange_v2, CUdeviceptr*, size_t*, CUdeviceptr) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuPointerGetAttribute, void*, CUpointer_attribute, CUdeviceptr) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuPointerGetAttributes, unsigned, CUpointer_attribute*, void**, CUdeviceptr) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuMemHostAlloc, void** pointer, size_t size, unsigned) {
  GUARD("cuMemHostAlloc");
  *pointer = malloc(size);
  state().pinned[static_cast<char*>(*pointer)] = size;
  return CUDA_SUCCESS;
}
FAKE(cuMemFreeHost, void* pointer) {
  const std::lock_guard lock(state().mutex);
  if (!drain(state().queued))
    wouldHang("cuMemFreeHost");
  state().pinned.erase(static_cast<char*>(pointer));
  free(pointer);
  return CUDA_SUCCESS;
}
FAKE(cuMemHostRegister_v2, void*, size_t, unsigned) { return CUDA_SUCCESS; }
FAKE(cuMemHostUnregister, void*) { return CUDA_SUCCESS; }
FAKE(cuMemHostGetDevicePointer_v2, CUdeviceptr*, void*, unsigned) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuMemGetAllocationGranularity, size_t* size, const CUmemAllocationProp*,
     CUmemAllocationGranularity_flags) {
  return *size = pageBytes, CUDA_SUCCESS;
}
FAKE(cuMemAddressReserve, CUdeviceptr* address, size_t size, size_t, CUdeviceptr wanted,
     unsigned long long) {
  GUARD("cuMemAddressReserve");
  wanted = (wanted + blockBytes - 1) / blockBytes * blockBytes;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = wanted
                     ? mmap(pointerTo(wanted), size, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0)
                     : MAP_FAILED;
  if (memory == MAP_FAILED) {
    auto* raw = static_cast<char*>(mmap(nullptr, size + pageBytes, PROT_NONE, flags, -1, 0));
    memory = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(raw) + pageBytes - 1) /
                                     pageBytes * pageBytes);
  }
  *address = reinterpret_cast<CUdeviceptr>(memory);
  state().reserved[*address] = size;
  return CUDA_SUCCESS;
}
FAKE(cuMemAddressFree, CUdeviceptr address, size_t size) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().reserved.find(address);
  if (found == state().reserved.end() || found->second != size)
    return CUDA_ERROR_INVALID_VALUE;
  munmap(pointerTo(address), size);
  state().reserved.erase(found);
  return CUDA_SUCCESS;
}
FAKE(cuMemCreate, CUmemGenericAllocationHandle* handle, size_t size,
     const CUmemAllocationProp* properties, unsigned long long) {
  GUARD("cuMemCreate");
  if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED || size % pageBytes != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (size > totalBytes - state().usedBytes)
    return CUDA_ERROR_OUT_OF_MEMORY;
  state().usedBytes += size;
  *handle = state().nextHandle++;
  state().handles[*handle] = size;
  return CUDA_SUCCESS;
}
FAKE(cuMemRelease, CUmemGenericAllocationHandle handle) {
  return state().handles.erase(handle), CUDA_SUCCESS;
}
FAKE(cuMemMap, CUdeviceptr address, size_t size, size_t, CUmemGenericAllocationHandle handle,
     unsigned long long) {
  GUARD("cuMemMap");
  if (state().handles[handle] != size)
    return CUDA_ERROR_INVALID_VALUE;
  auto home = state().reserved.upper_bound(address);
  if (home == state().reserved.begin() || (--home, address + size > home->first + home->second))
    return CUDA_ERROR_INVALID_VALUE; // across two reservations, or in none
  mprotect(pointerTo(address), size, PROT_READ | PROT_WRITE);
  memset(pointerTo(address), 0xAA, 4096); // not zeroed
  state().mapped[address] = size;
  return CUDA_SUCCESS;
}
FAKE(cuMemSetAccess, CUdeviceptr, size_t, const CUmemAccessDesc* access, size_t) {
  return access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? verdict("cuMemSetAccess")
                                                             : CUDA_ERROR_INVALID_VALUE;
}
FAKE(cuMemUnmap, CUdeviceptr address, size_t size) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().mapped.find(address);
  if (found == state().mapped.end() || found->second != size)
    return CUDA_ERROR_INVALID_VALUE;
  if (!drain(state().queued))
    wouldHang("cuMemUnmap");
  madvise(pointerTo(address), size, MADV_DONTNEED);
  mprotect(pointerTo(address), size, PROT_NONE);
  state().usedBytes -= size;
  state().mapped.erase(found);
  return CUDA_SUCCESS;
}

// Green contexts: of pairs of multiprocessors, or of single ones if "coscheduling" is no matter.
FAKE(cuDeviceGetDevResource, CUdevice, CUdevResource* all, int) {
  return all->smCount = 4, verdict("cuDeviceGetDevResource");
}
FAKE(cuDevSmResourceSplitByCount, CUdevResource* part, unsigned* groups, const CUdevResource* all,
     CUdevResource* rest, unsigned flags, unsigned least) {
  if (flags & 1 && verdict("coscheduling") != CUDA_SUCCESS)
    return verdict("coscheduling");
  const unsigned unit = flags & 1 ? 1 : 2;
  part->smCount = (least + unit - 1) / unit * unit;
  rest->smCount = all->smCount - part->smCount;
  return *groups = 1, CUDA_SUCCESS;
}
FAKE(cuDevResourceGenerateDesc, CUdevResourceDesc* description, CUdevResource* part, unsigned) {
  return *description = reinterpret_cast<CUdevResourceDesc>(uintptr_t{part->smCount}), CUDA_SUCCESS;
}
FAKE(cuGreenCtxCreate, CUgreenCtx* context, CUdevResourceDesc description, CUdevice, unsigned) {
  GUARD("cuGreenCtxCreate");
  ++application.greenContexts;
  return *context = reinterpret_cast<CUgreenCtx>(description), CUDA_SUCCESS;
}
FAKE(cuGreenCtxDestroy, CUgreenCtx) { return --application.greenContexts, CUDA_SUCCESS; }
FAKE(cuGreenCtxStreamCreate, CUstream* stream, CUgreenCtx context, unsigned, int) {
  *stream = reinterpret_cast<CUstream>(1000 + reinterpret_cast<uintptr_t>(context));
  return verdict("cuGreenCtxStreamCreate");
}
