// Copies, streams, events and modules of the driver without a GPU.
#include "fake_driver.h"

using namespace fake;

namespace {

std::string carveouts, cacheConfigs; ///< that were set

struct Event {
  uint64_t position = 0;
};

Module* moduleOf(CUmodule raw) { return reinterpret_cast<Module*>(raw); }

std::string valueOf(const Variable& variable) {
  return {static_cast<const char*>(pointerTo(variable.address)), variable.sizeBytes};
}

void note(Seen seen, const Module* module) {
  if (module)
    for (const auto& [name, variable] : module->variables)
      seen.variables[name] = valueOf(variable);
  application.launches.push_back(std::move(seen));
}

CUresult launch(CUfunction raw, const CUlaunchConfig& config) {
  const auto* function = reinterpret_cast<Function*>(raw);
  if (function->name == "refused")
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (config.sharedMemBytes > static_cast<unsigned>(function->attributes.at(8)))
    return CUDA_ERROR_INVALID_VALUE;
  Seen seen{function->name, config, {config.attrs, config.attrs + config.numAttrs}, {}};
  for (const CUlaunchAttribute& attribute : seen.attributes)
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && attribute.value.clusterDim.x > 8 &&
        !function->attributes.contains(14))
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return enqueue([seen, module = function->module] {
    note(seen, module);
    if (seen.kernel == "illegal")
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (seen.kernel == "hang") {
      state().isHung = true;
      state().queue.push_front([] { return CUDA_SUCCESS; });
      --state().done;
    }
    return CUDA_SUCCESS;
  });
}

/// Variables begin as zeros, 8-byte aligned.
Module* loadImage(const char* image) {
  Module* module = state().modules.emplace_back(new Module()).get();
  constexpr const char* kMark = ".variable ";
  for (const char* at = strstr(image, kMark); at; at = strstr(at + 1, kMark)) {
    char name[128];
    size_t size = 0;
    if (sscanf(at, ".variable %127s %zu", name, &size) == 2)
      module->variables[name] = {
          reinterpret_cast<CUdeviceptr>(module->storage.emplace_back(new char[size + 8]()).get()),
          size};
  }
  return module;
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
  GUARD("cuStreamIsCapturing");
  *status = application.isCapturing ? static_cast<CUstreamCaptureStatus>(1)
                                    : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
FAKE(cuThreadExchangeStreamCaptureMode, CUstreamCaptureMode* mode) {
  const auto before = static_cast<CUstreamCaptureMode>(application.captureMode);
  application.captureMode = *mode;
  return *mode = before, CUDA_SUCCESS;
}
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

FAKE(cuModuleLoadDataEx, CUmodule* module, const void* image, unsigned count, CUjit_option* options,
     void** values) {
  const std::lock_guard lock(state().mutex);
  const CUresult result = verdict("cuModuleLoadDataEx");
  application.jitOptions.clear();
  for (unsigned i = 0; i < count; ++i)
    if (options[i] != CU_JIT_ERROR_LOG_BUFFER && options[i] != CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
      application.jitOptions[options[i]] = reinterpret_cast<uint64_t>(values[i]);
  for (unsigned i = 0; i < count; ++i)
    if (result != CUDA_SUCCESS && options[i] == CU_JIT_ERROR_LOG_BUFFER)
      strcpy(static_cast<char*>(values[i]), "ptxas: line 7: what is this?\n");
  if (result != CUDA_SUCCESS)
    return result;
  Module* loaded = loadImage(static_cast<const char*>(image));
  application.modules.push_back(loaded);
  application.modesOfLoads.push_back(application.captureMode);
  return *module = reinterpret_cast<CUmodule>(loaded), CUDA_SUCCESS;
}
/// What the last load was told; 999: nothing.
extern "C" __attribute__((visibility("default"))) uint64_t fakeJitOption(int number) {
  const auto found = application.jitOptions.find(number);
  return found == application.jitOptions.end() ? 999 : found->second;
}
FAKE(cuModuleUnload, CUmodule module) {
  if (state().isHung)
    wouldHang("cuModuleUnload");
  return moduleOf(module)->isLoaded = false, CUDA_SUCCESS;
}
FAKE(cuModuleGetFunction, CUfunction* function, CUmodule module, const char* name) {
  const std::lock_guard lock(state().mutex);
  Function* made = state().functions.emplace_back(new Function{name}).get();
  made->module = moduleOf(module);
  if (made->name == "missing")
    return CUDA_ERROR_NOT_FOUND;
  if (made->name == "fat")
    made->registers = 128, made->maxThreads = 512;
  if (made->name == "clustered")
    made->requiredCluster = 2;
  *function = reinterpret_cast<CUfunction>(made);
  return CUDA_SUCCESS;
}
FAKE(cuModuleGetGlobal_v2, CUdeviceptr* address, size_t* size, CUmodule module, const char* name) {
  const auto& variables = moduleOf(module)->variables;
  if (const auto found = variables.find(name); found != variables.end())
    return *address = found->second.address, *size = found->second.sizeBytes, CUDA_SUCCESS;
  if (strcmp(name, "coefficients") != 0)
    return CUDA_ERROR_NOT_FOUND;
  return *address = 0x7000, *size = 16, CUDA_SUCCESS;
}
FAKE(cuFuncGetModule, CUmodule* module, CUfunction function) {
  *module = reinterpret_cast<CUmodule>(reinterpret_cast<Function*>(function)->module);
  return *module ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuFuncGetAttribute, int* value, CUfunction_attribute attribute, CUfunction raw) {
  const auto* function = reinterpret_cast<Function*>(raw);
  if (const auto set = function->attributes.find(attribute); set != function->attributes.end())
    return *value = set->second, verdict("cuFuncGetAttribute");
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
/// Returns the carve-outs of shared memory that were set since the last call.
extern "C" __attribute__((visibility("default"))) const char* fakeCarveouts() {
  static std::string told;
  told = std::exchange(carveouts, "");
  return told.c_str();
}
extern "C" __attribute__((visibility("default"))) const char* fakeCacheConfigs() {
  static std::string told;
  told = std::exchange(cacheConfigs, "");
  return told.c_str();
}
FAKE(cuFuncSetCacheConfig, CUfunction, int config) {
  cacheConfigs += std::to_string(config) + " ";
  return verdict("cuFuncSetCacheConfig");
}
FAKE(cuFuncSetAttribute, CUfunction function, CUfunction_attribute attribute, int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    carveouts += std::to_string(value) + " ";
  reinterpret_cast<Function*>(function)->attributes[attribute] = value;
  return CUDA_SUCCESS;
}
FAKE(cuLaunchKernel, CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared, CUstream stream, void**,
     void**) {
  GUARD("cuLaunchKernel");
  return launch(function,
                {gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream, nullptr, 0});
}
FAKE(cuLaunchCooperativeKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
     unsigned, unsigned, CUstream, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE(cuLaunchKernelEx, const CUlaunchConfig* config, CUfunction function, void**, void**) {
  GUARD("cuLaunchKernelEx");
  return config->numAttrs > 0 ? launch(function, *config) : CUDA_ERROR_INVALID_VALUE;
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
