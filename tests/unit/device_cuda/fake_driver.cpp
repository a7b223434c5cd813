// A libcuda.so.1 without a GPU: memory is mmap'ed at the asked addresses, copies and kernels wait
// in one queue until somebody synchronises, kernels do what their names say. MNEME_FAKE_CUDA
// ("cuMemCreate=2,cuInit=100") makes calls fail with a code.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include <sys/mman.h>

#include "runtime/device/cuda/driver_types.h"

using namespace mneme::device::cuda;

namespace {

constexpr size_t pageBytes = 2 << 20;
constexpr size_t blockBytes = 32 << 20;
constexpr size_t totalBytes = size_t{1} << 30;

struct Function {
  std::string name;
  int registers = 32;
  int maxThreads = 1024;
  int requiredCluster = 0;
};

struct State {
  std::recursive_mutex mutex;
  CUresult sticky = CUDA_SUCCESS;
  bool isHung = false;
  std::deque<std::function<CUresult()>> queue;
  uint64_t queued = 0, done = 0;
  std::map<const char*, size_t> pinned;
  std::map<uint64_t, size_t> mapped, reserved;
  std::map<uint64_t, size_t> handles;
  uint64_t nextHandle = 1;
  size_t usedBytes = 0;
  std::set<std::string> functionsAsked;
  int contextDepth = 0;
};

State& state() {
  static State* instance = new State();
  return *instance;
}

thread_local int depth = 0;

/// The code MNEME_FAKE_CUDA wants of this call, the sticky one after that, else success.
CUresult verdict(const char* call) {
  if (const char* wanted = getenv("MNEME_FAKE_CUDA")) {
    const std::string text = std::string(",") + wanted;
    const std::string key = std::string(",") + call + "=";
    if (const size_t at = text.find(key); at != std::string::npos)
      return static_cast<CUresult>(atoi(text.c_str() + at + key.size()));
  }
  return state().sticky;
}

[[noreturn]] void wouldHang(const char* call) {
  fprintf(stderr, "fake CUDA: %s would wait for a kernel that never ends\n", call);
  abort();
}

/// Runs the queue up to `end`; false when a hung kernel is in the way.
bool drain(uint64_t end) {
  State& s = state();
  while (s.done < end && !s.isHung) {
    const auto action = std::move(s.queue.front());
    s.queue.pop_front();
    ++s.done;
    if (s.sticky == CUDA_SUCCESS)
      s.sticky = action();
  }
  return s.done >= end;
}

CUresult enqueue(std::function<CUresult()> action) {
  State& s = state();
  s.queue.push_back(std::move(action));
  ++s.queued;
  return CUDA_SUCCESS;
}

bool isPinned(const void* pointer) {
  const auto* address = static_cast<const char*>(pointer);
  auto found = state().pinned.upper_bound(address);
  return found != state().pinned.begin() && (--found, address < found->first + found->second);
}

CUresult copy(void* destination, const void* source, size_t size) {
  if (depth == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  return enqueue([=] {
    memmove(destination, source, size);
    return CUDA_SUCCESS;
  });
}

void* pointerTo(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

struct Event {
  uint64_t position = 0;
};

CUresult launch(CUfunction raw, CUstream) {
  const auto* function = reinterpret_cast<Function*>(raw);
  if (function->name == "refused")
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  return enqueue([name = function->name] {
    if (name == "illegal")
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (name == "hang") {
      state().isHung = true;
      state().queue.push_front([] { return CUDA_SUCCESS; });
      --state().done;
    }
    return CUDA_SUCCESS;
  });
}

} // namespace

#define FAKE(name, ...) extern "C" __attribute__((visibility("default"))) CUresult name(__VA_ARGS__)
#define GUARD(name)                                                                                \
  const std::lock_guard lock(state().mutex);                                                       \
  if (const CUresult code = verdict(name); code != CUDA_SUCCESS)                                   \
  return code

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
  *context = reinterpret_cast<CUcontext>(uintptr_t(0x1000) + device);
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
  return *context = reinterpret_cast<CUcontext>(uintptr_t(depth)), CUDA_SUCCESS;
}
FAKE(cuCtxGetDevice, CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
FAKE(cuCtxSynchronize) { return CUDA_SUCCESS; }
FAKE(cuCtxSetLimit, CUlimit, size_t) { return CUDA_SUCCESS; }
FAKE(cuCtxGetLimit, size_t* value, CUlimit) { return *value = 0, CUDA_SUCCESS; }
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

FAKE(cuMemcpyDtoH_v2, void*, CUdeviceptr, size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
FAKE(cuMemcpyHtoD_v2, CUdeviceptr, const void*, size_t) { return CUDA_ERROR_NOT_SUPPORTED; }
FAKE(cuMemcpyAsync, CUdeviceptr, CUdeviceptr, size_t, CUstream) { return CUDA_ERROR_NOT_SUPPORTED; }
FAKE(cuMemcpyDtoHAsync_v2, void* destination, CUdeviceptr source, size_t size, CUstream) {
  GUARD("cuMemcpyDtoHAsync");
  const CUresult result = copy(destination, pointerTo(source), size);
  if (result == CUDA_SUCCESS && !isPinned(destination))
    drain(state().queued);
  return result;
}
FAKE(cuMemcpyHtoDAsync_v2, CUdeviceptr destination, const void* source, size_t size, CUstream) {
  GUARD("cuMemcpyHtoDAsync");
  const CUresult result = copy(pointerTo(destination), source, size);
  if (result == CUDA_SUCCESS && !isPinned(source))
    drain(state().queued);
  return result;
}
FAKE(cuMemcpyDtoDAsync_v2, CUdeviceptr destination, CUdeviceptr source, size_t size, CUstream) {
  GUARD("cuMemcpyDtoDAsync");
  return copy(pointerTo(destination), pointerTo(source), size);
}
FAKE(cuMemsetD8Async, CUdeviceptr destination, unsigned char value, size_t count, CUstream) {
  GUARD("cuMemsetD8Async");
  return enqueue([=] { return memset(pointerTo(destination), value, count), CUDA_SUCCESS; });
}

FAKE(cuStreamCreate, CUstream* stream, unsigned) {
  return *stream = reinterpret_cast<CUstream>(uintptr_t(16)), CUDA_SUCCESS;
}
FAKE(cuStreamCreateWithPriority, CUstream* stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}
FAKE(cuStreamDestroy_v2, CUstream) { return CUDA_SUCCESS; }
FAKE(cuStreamSynchronize, CUstream) {
  const std::lock_guard lock(state().mutex);
  if (!drain(state().queued))
    wouldHang("cuStreamSynchronize");
  return verdict("cuStreamSynchronize");
}
FAKE(cuStreamQuery, CUstream) { return verdict("cuStreamQuery"); }
FAKE(cuStreamWaitEvent, CUstream, CUevent, unsigned) { return CUDA_SUCCESS; }
FAKE(cuStreamGetCtx, CUstream, CUcontext*) { return CUDA_ERROR_NOT_SUPPORTED; }
FAKE(cuStreamIsCapturing, CUstream, CUstreamCaptureStatus* status) {
  return *status = CU_STREAM_CAPTURE_STATUS_NONE, CUDA_SUCCESS;
}
FAKE(cuThreadExchangeStreamCaptureMode, CUstreamCaptureMode*) { return CUDA_SUCCESS; }
FAKE(cuLaunchHostFunc, CUstream, CUhostFn, void*) { return CUDA_ERROR_NOT_SUPPORTED; }

FAKE(cuEventCreate, CUevent* event, unsigned) {
  GUARD("cuEventCreate");
  return *event = reinterpret_cast<CUevent>(new Event()), CUDA_SUCCESS;
}
FAKE(cuEventRecord, CUevent event, CUstream) {
  GUARD("cuEventRecord");
  reinterpret_cast<Event*>(event)->position = state().queued;
  return CUDA_SUCCESS;
}
FAKE(cuEventQuery, CUevent event) {
  const std::lock_guard lock(state().mutex);
  return drain(reinterpret_cast<Event*>(event)->position) ? verdict("cuEventQuery")
                                                          : CUDA_ERROR_NOT_READY;
}
FAKE(cuEventSynchronize, CUevent event) {
  const std::lock_guard lock(state().mutex);
  if (!drain(reinterpret_cast<Event*>(event)->position))
    wouldHang("cuEventSynchronize");
  return verdict("cuEventSynchronize");
}
FAKE(cuEventDestroy_v2, CUevent event) {
  return delete reinterpret_cast<Event*>(event), CUDA_SUCCESS;
}
FAKE(cuEventElapsedTime, float* milliseconds, CUevent, CUevent) {
  return *milliseconds = 0.5f, CUDA_SUCCESS;
}

FAKE(cuModuleLoadDataEx, CUmodule* module, const void*, unsigned count, CUjit_option* options,
     void** values) {
  const CUresult result = verdict("cuModuleLoadDataEx");
  for (unsigned i = 0; i < count; ++i)
    if (result != CUDA_SUCCESS && options[i] == CU_JIT_ERROR_LOG_BUFFER)
      strcpy(static_cast<char*>(values[i]), "ptxas: line 7: what is this?\n");
  return *module = reinterpret_cast<CUmodule>(uintptr_t(32)), result;
}
FAKE(cuModuleUnload, CUmodule) {
  if (state().isHung)
    wouldHang("cuModuleUnload");
  return CUDA_SUCCESS;
}
FAKE(cuModuleGetFunction, CUfunction* function, CUmodule, const char* name) {
  auto* made = new Function{name};
  if (made->name == "missing")
    return CUDA_ERROR_NOT_FOUND;
  if (made->name == "fat")
    made->registers = 128, made->maxThreads = 512;
  if (made->name == "clustered")
    made->requiredCluster = 2;
  *function = reinterpret_cast<CUfunction>(made);
  return CUDA_SUCCESS;
}
FAKE(cuModuleGetGlobal_v2, CUdeviceptr* address, size_t* size, CUmodule, const char* name) {
  if (strcmp(name, "coefficients") != 0)
    return CUDA_ERROR_NOT_FOUND;
  return *address = 0x7000, *size = 16, CUDA_SUCCESS;
}
FAKE(cuFuncGetModule, CUmodule*, CUfunction) { return CUDA_ERROR_NOT_SUPPORTED; }
FAKE(cuFuncGetAttribute, int* value, CUfunction_attribute attribute, CUfunction raw) {
  const auto* function = reinterpret_cast<Function*>(raw);
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS                 ? function->registers
           : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK  ? function->maxThreads
           : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES      ? 1024
           : attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ? function->requiredCluster
           : attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT ||
                   attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH
               ? (function->requiredCluster ? 1 : 0)
               : 0;
  return verdict("cuFuncGetAttribute");
}
FAKE(cuFuncSetAttribute, CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
FAKE(cuFuncGetParamInfo, CUfunction, size_t index, size_t* offset, size_t* size) {
  return *offset = 8 * index, *size = 8, index < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
FAKE(cuLaunchKernel, CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
     unsigned, unsigned, CUstream stream, void**, void**) {
  GUARD("cuLaunchKernel");
  return launch(function, stream);
}
FAKE(cuLaunchCooperativeKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
     unsigned, unsigned, CUstream, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuLaunchKernelEx, const CUlaunchConfig* config, CUfunction function, void**, void**) {
  GUARD("cuLaunchKernelEx");
  return config->numAttrs > 0 ? launch(function, config->hStream) : CUDA_ERROR_INVALID_VALUE;
}
FAKE(cuOccupancyMaxActiveBlocksPerMultiprocessor, int* blocks, CUfunction, int, size_t) {
  return *blocks = 2, CUDA_SUCCESS;
}
FAKE(cuOccupancyMaxPotentialClusterSize, int* size, CUfunction, const CUlaunchConfig*) {
  return *size = 8, CUDA_SUCCESS;
}
FAKE(cuOccupancyMaxActiveClusters, int* clusters, CUfunction, const CUlaunchConfig* config) {
  const auto& dims = config->attrs[0].value.clusterDim;
  return *clusters = dims.x * dims.y * dims.z > 8 ? 0 : 2, CUDA_SUCCESS;
}
