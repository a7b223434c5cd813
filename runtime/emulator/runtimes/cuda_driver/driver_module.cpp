// Modules, libraries and what is in them, in the CUDA driver API. A library is its module and a
// kernel is its function: there is one device.
#include "runtime/core/abi/cpu_driver_services.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/types.h"
#include "runtime/emulator/runtimes/cuda_driver/forward.h"

using namespace mneme::cpu_runtime::cuda_driver;

namespace {

constexpr int kLazyLoading = 2;

int loadImage(void** module, const void* image) {
  return image ? driverStatus(mneme_cudart_load_module(module, image, nullptr))
               : CUDA_ERROR_INVALID_VALUE;
}

int loadFile(void** module, const char* path) {
  return path ? driverStatus(mneme_cudart_load_module(module, nullptr, path))
              : CUDA_ERROR_INVALID_VALUE;
}

int unload(void* module) { return driverStatus(mneme_cudart_unload_module(module)); }

int findFunction(const void** function, void* module, const char* name) {
  return driverStatus(mneme_cudart_module_function(function, module, name));
}

int findGlobal(CUdeviceptr* address, size_t* bytes, void* module, const char* name) {
  return driverStatus(mneme_cudart_module_global(asPointer(address), bytes, module, name));
}

int attributeOf(int* value, int attribute, const void* function) {
  mneme::cpu_runtime::FuncAttributes all{};
  const int status = forward<"cudaFuncGetAttributes">(&all, function);
  if (status != CUDA_SUCCESS)
    return status;
  const int values[] = {
      all.maxThreadsPerBlock,
      static_cast<int>(all.sharedSizeBytes),
      static_cast<int>(all.constSizeBytes),
      static_cast<int>(all.localSizeBytes),
      all.numRegs,
      all.ptxVersion,
      all.binaryVersion,
      all.cacheModeCA,
      all.maxDynamicSharedSizeBytes,
      all.preferredShmemCarveout,
      all.clusterDimMustBeSet,
      all.requiredClusterWidth,
      all.requiredClusterHeight,
      all.requiredClusterDepth,
      all.nonPortableClusterSizeAllowed,
      all.clusterSchedulingPolicyPreference,
  };
  const bool isKnown = attribute >= 0 && attribute < static_cast<int>(std::size(values));
  return isKnown ? give(value, values[attribute]) : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

MNEME_RUNTIME_API int cuModuleLoad(void** module, const char* path) {
  return loadFile(module, path);
}

MNEME_RUNTIME_API int cuModuleLoadData(void** module, const void* image) {
  return loadImage(module, image);
}

/// Options are for a compiler of PTX.
MNEME_RUNTIME_API int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  return loadImage(module, image);
}

MNEME_RUNTIME_API int cuModuleLoadFatBinary(void** module, const void* image) {
  return loadImage(module, image);
}

MNEME_RUNTIME_API int cuModuleUnload(void* module) { return unload(module); }

MNEME_RUNTIME_API int cuModuleGetFunction(const void** function, void* module, const char* name) {
  return findFunction(function, module, name);
}

MNEME_RUNTIME_API int cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, void* module,
                                           const char* name) {
  return findGlobal(address, bytes, module, name);
}

MNEME_RUNTIME_API int cuModuleGetLoadingMode(int* mode) { return give(mode, kLazyLoading); }

MNEME_RUNTIME_API int cuLibraryLoadData(void** library, const void* image, int*, void**, unsigned,
                                        int*, void**, unsigned) {
  return loadImage(library, image);
}

MNEME_RUNTIME_API int cuLibraryLoadFromFile(void** library, const char* path, int*, void**,
                                            unsigned, int*, void**, unsigned) {
  return loadFile(library, path);
}

MNEME_RUNTIME_API int cuLibraryUnload(void* library) { return unload(library); }

MNEME_RUNTIME_API int cuLibraryGetKernel(const void** kernel, void* library, const char* name) {
  return findFunction(kernel, library, name);
}

MNEME_RUNTIME_API int cuLibraryGetModule(void** module, void* library) {
  return library ? give(module, library) : CUDA_ERROR_INVALID_HANDLE;
}

MNEME_RUNTIME_API int cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, void* library,
                                         const char* name) {
  return findGlobal(address, bytes, library, name);
}

MNEME_RUNTIME_API int cuKernelGetFunction(const void** function, const void* kernel) {
  return kernel ? give(function, kernel) : CUDA_ERROR_INVALID_HANDLE;
}

MNEME_RUNTIME_API int cuKernelGetAttribute(int* value, int attribute, const void* kernel,
                                           int device) {
  const int bad = checkDevice(device);
  return bad == CUDA_SUCCESS ? attributeOf(value, attribute, kernel) : bad;
}

MNEME_RUNTIME_API int cuKernelSetAttribute(int attribute, int value, const void* kernel,
                                           int device) {
  return forward<"cudaKernelSetAttributeForDevice">(kernel, attribute, value, device);
}

MNEME_RUNTIME_API int cuKernelGetName(const char** name, const void* kernel) {
  return forward<"cudaFuncGetName">(name, kernel);
}

MNEME_RUNTIME_API int cuFuncGetName(const char** name, const void* function) {
  return forward<"cudaFuncGetName">(name, function);
}

MNEME_RUNTIME_API int cuFuncGetAttribute(int* value, int attribute, const void* function) {
  return attributeOf(value, attribute, function);
}

MNEME_RUNTIME_API int cuFuncSetAttribute(const void* function, int attribute, int value) {
  return forward<"cudaFuncSetAttribute">(function, attribute, value);
}

MNEME_RUNTIME_API int cuFuncSetCacheConfig(const void* function, int config) {
  return forward<"cudaFuncSetCacheConfig">(function, config);
}

MNEME_RUNTIME_API int cuFuncSetSharedMemConfig(const void* function, int config) {
  return forward<"cudaFuncSetSharedMemConfig">(function, config);
}

MNEME_RUNTIME_API int cuFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                         size_t* bytes) {
  return forward<"cudaFuncGetParamInfo">(function, index, offset, bytes);
}

MNEME_RUNTIME_API int cuKernelGetParamInfo(const void* kernel, size_t index, size_t* offset,
                                           size_t* bytes) {
  return forward<"cudaFuncGetParamInfo">(kernel, index, offset, bytes);
}
