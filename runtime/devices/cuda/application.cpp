#include "runtime/devices/cuda/application.h"

#include <limits>

#include <dlfcn.h>

namespace mneme::device::cuda {
namespace {

constexpr size_t kSharedWithoutAsking = 48 << 10;
constexpr int kMaxDynamicSharedMemorySize = 8; // cudaFuncAttribute, hipFuncAttribute

} // namespace

bool hasTiedBlocks(const RuntimeLaunchConfig& config) noexcept {
  for (unsigned index = 0; config.attributes && index < config.attributeCount; ++index) {
    const CUlaunchAttribute& attribute = config.attributes[index];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && attribute.value.cooperative)
      return true;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ||
        attribute.id == CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION)
      return true;
  }
  return false;
}

bool mayReplaceKernel(const RuntimeLaunchConfig& config) noexcept {
  for (unsigned index = 0; config.attributes && index < config.attributeCount; ++index) {
    const int id = config.attributes[index].id;
    if (id < CU_LAUNCH_ATTRIBUTE_IGNORE ||
        id > CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT ||
        id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
      return false;
  }
  return true;
}

bool allowSharedMemory(const void* handle, size_t sharedBytes) noexcept {
  if (sharedBytes <= kSharedWithoutAsking || sharedBytes > size_t{std::numeric_limits<int>::max()})
    return false;
  for (const char* name : {"cudaFuncSetAttribute", "hipFuncSetAttribute"})
    if (const auto set =
            reinterpret_cast<int (*)(const void*, int, int)>(dlsym(RTLD_DEFAULT, name));
        set && set(handle, kMaxDynamicSharedMemorySize, static_cast<int>(sharedBytes)) == 0)
      return true;
  return false;
}

CUcontext primaryContext(const Driver& driver, CUdevice device) noexcept {
  unsigned flags = 0;
  int isActive = 0;
  CUcontext context = nullptr;
  if (driver.cuDevicePrimaryCtxGetState(device, &flags, &isActive) != CUDA_SUCCESS || !isActive ||
      driver.cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS)
    return nullptr;
  driver.cuDevicePrimaryCtxRelease(device); // the runtime holds it, too
  return context;
}

CUgreenCtx greenContext(const Driver& driver, CUstream stream) noexcept {
  CUgreenCtx green = nullptr;
  return driver.cuStreamGetGreenCtx && driver.cuStreamGetGreenCtx(stream, &green) == CUDA_SUCCESS
             ? green
             : nullptr;
}

CUmodule moduleOf(const Driver& driver, CUlibrary library) noexcept {
  CUmodule module = nullptr;
  return driver.cuLibraryGetModule && driver.cuLibraryGetModule(&module, library) == CUDA_SUCCESS
             ? module
             : nullptr;
}

CUmodule moduleOf(const Driver& driver, const KernelLookup& lookup, const void* handle) noexcept {
  void* function = nullptr;
  CUmodule module = nullptr;
  if (lookup.functionOf && lookup.functionOf(&function, handle) == 0 &&
      driver.cuFuncGetModule(&module, static_cast<CUfunction>(function)) == CUDA_SUCCESS)
    return module;
  void* kernel = nullptr;
  CUlibrary library = nullptr;
  if (lookup.kernelOf && driver.cuKernelGetLibrary && driver.cuLibraryGetModule &&
      lookup.kernelOf(&kernel, handle) == 0 &&
      driver.cuKernelGetLibrary(&library, static_cast<CUkernel>(kernel)) == CUDA_SUCCESS &&
      driver.cuLibraryGetModule(&module, library) == CUDA_SUCCESS)
    return module;
  return nullptr;
}

void* ownerOf(const Driver& driver, const void* kernel, const std::string& name,
              std::span<void* const> modules, std::span<void* const> libraries) noexcept {
  void* const handle = const_cast<void*>(kernel);
  CUlibrary library = nullptr;
  if (driver.cuKernelGetLibrary &&
      driver.cuKernelGetLibrary(&library, static_cast<CUkernel>(handle)) == CUDA_SUCCESS &&
      std::ranges::count(libraries, static_cast<void*>(library)))
    return library;
  CUmodule module = nullptr;
  if (driver.cuFuncGetModule(&module, static_cast<CUfunction>(handle)) == CUDA_SUCCESS &&
      std::ranges::count(modules, static_cast<void*>(module)))
    return module;
  // The module that a library has in this context need not be known.
  const auto has = [&](void* one) {
    CUkernel found = nullptr;
    CUfunction function = nullptr;
    return driver.cuLibraryGetKernel(&found, static_cast<CUlibrary>(one), name.c_str()) ==
               CUDA_SUCCESS &&
           driver.cuKernelGetFunction(&function, found) == CUDA_SUCCESS && function == handle;
  };
  if (!driver.cuLibraryGetKernel || !driver.cuKernelGetFunction)
    return nullptr;
  const auto owner = std::ranges::find_if(libraries, has);
  return owner == libraries.end() ? nullptr : *owner;
}

std::optional<std::vector<embed::DeviceParameter>> parametersOf(const Driver& driver,
                                                                const void* kernel) {
  if (!driver.cuFuncGetParamInfo)
    return std::nullopt;
  void* handle = const_cast<void*>(kernel);
  std::vector<embed::DeviceParameter> places;
  size_t offset = 0, sizeBytes = 0;
  const auto ofFunction = [&] {
    return driver.cuFuncGetParamInfo(static_cast<CUfunction>(handle), places.size(), &offset,
                                     &sizeBytes);
  };
  const auto ofKernel = [&] {
    return driver.cuKernelGetParamInfo
               ? driver.cuKernelGetParamInfo(static_cast<CUkernel>(handle), places.size(), &offset,
                                             &sizeBytes)
               : CUDA_ERROR_NOT_FOUND;
  };
  // One of them knows the handle.
  CUresult status = ofFunction(), otherwise = CUDA_ERROR_NOT_FOUND;
  const bool isKernel = status != CUDA_SUCCESS && (otherwise = ofKernel()) == CUDA_SUCCESS;
  status = isKernel ? otherwise : status;
  while (status == CUDA_SUCCESS) {
    places.push_back({offset, sizeBytes});
    status = isKernel ? ofKernel() : ofFunction();
  }
  // Behind the last one; all else means that the driver does not know the handle.
  const bool isAtEnd = status == CUDA_ERROR_INVALID_VALUE ||
                       (places.empty() && otherwise == CUDA_ERROR_INVALID_VALUE);
  return isAtEnd ? std::optional(std::move(places)) : std::nullopt;
}

} // namespace mneme::device::cuda
