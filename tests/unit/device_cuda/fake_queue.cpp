// Copies, streams, events and modules of the driver without a GPU.
#include "fake_driver.h"

using namespace fake;

namespace {

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
