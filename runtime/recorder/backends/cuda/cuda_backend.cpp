#include "runtime/recorder/backends/cuda/cuda_backend.h"

#include <array>
#include <optional>
#include <string_view>

#include <dlfcn.h>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/last_error.h"
#include "runtime/core/loaded/image_places.h"
#include "runtime/devices/cuda/application.h"
#include "runtime/recorder/backends/cuda/cuda_gpu.h"
#include "runtime/recorder/backends/cuda/cuda_texture_access.h"
#include "runtime/recorder/backends/cuda/own_contexts.h"
#include "runtime/recorder/backends/vendor_runtime.h"
#include "runtime/recorder/device_waiter.h"
#include "runtime/recorder/global_places.h"

namespace mneme::record {
namespace {

using namespace device::cuda;
using artifact::Region;
using artifact::RegionKind;

constexpr std::array kRuntimeFiles = {"libcudart.so", "librecord.so"};
constexpr std::array kWaitingLibraries = {"libnccl"};

/// The runtime's functions. All are null in a program that uses the driver alone; those beside the
/// first three may be in others.
struct Runtime {
  int (*synchronize)() = find<int (*)()>("cudaDeviceSynchronize");
  int (*getDevice)(int* device) = find<int (*)(int*)>("cudaGetDevice");
  int (*free)(void* pointer) = find<int (*)(void*)>("cudaFree");
  int (*symbolAddress)(void** address, const void* hostShadow) =
      find<int (*)(void**, const void*)>("cudaGetSymbolAddress");
  int (*attributesOf)(void* attributes, const void* kernel) =
      find<int (*)(void*, const void*)>("cudaFuncGetAttributes");
  KernelLookup lookup{find<int (*)(void**, const void*)>("cudaGetFuncBySymbol"),
                      find<int (*)(void**, const void*)>("cudaGetKernel")};
  int (*peek)() = find<int (*)()>("cudaPeekAtLastError");
  int (*clear)() = find<int (*)()>("cudaGetLastError");
  const char* (*errorString)(int status) = find<const char* (*)(int)>("cudaGetErrorString");

  bool isThere() const noexcept { return synchronize && getDevice && free; }
};

/// Whether the launch was written against a function for which stream 0 is the thread's own.
bool isPerThread(const void* vendorEntry) noexcept {
  for (const char* name :
       {"cudaLaunchKernel_ptsz", "cudaLaunchCooperativeKernel_ptsz", "cudaLaunchKernelExC_ptsz"})
    // A position-dependent program names a function by a stub of its own, which the first finds.
    if (vendorEntry &&
        (vendorEntry == dlsym(RTLD_DEFAULT, name) || vendorEntry == find<void*>(name)))
      return true;
  return false;
}

void* streamOfLaunch(const mneme_launch& launch) noexcept {
  if (launch.stream)
    return launch.stream;
  return isPerThread(launch.vendorEntry) ? perThreadStream(nullptr) : legacyStream(nullptr);
}

class CudaBackend final : public Backend {
public:
  explicit CudaBackend(const Runtime& runtime) : runtime_(runtime) {}

  std::string deviceName(int device) const override { return "cuda:" + std::to_string(device); }
  std::span<const char* const> runtimeFiles() const noexcept override { return kRuntimeFiles; }
  std::span<const char* const> kernelLibraries() const noexcept override {
    return loaded::kKernelLibraries;
  }
  std::span<const char* const> waitingLibraries() const noexcept override {
    return kWaitingLibraries;
  }
  bool seesKernelLibraries() const noexcept override { return true; }

  const char* wordsOf(int status) const noexcept override {
    return runtime_.errorString ? runtime_.errorString(status) : nullptr;
  }
  int currentDevice() noexcept override { return ordinal().value_or(0); }
  int synchronize() noexcept override {
    if (runtime_.synchronize)
      return runtime_.synchronize();
    const Driver* driver = Driver::find();
    return driver ? driver->cuCtxSynchronize() : CUDA_ERROR_NOT_INITIALIZED;
  }
  int synchronizeDevice(unsigned device) noexcept override;
  std::optional<int> synchronizeWithin(unsigned device,
                                       const Patience& patience) noexcept override {
    return waiters_.wait(device, patience);
  }
  unsigned deviceCount() noexcept override {
    int count = 0;
    const Driver* driver = Driver::find();
    return driver && driver->cuDeviceGetCount(&count) == CUDA_SUCCESS && count > 0
               ? static_cast<unsigned>(count)
               : 1;
  }
  WorkPlace currentPlace() noexcept override;
  std::optional<WorkPlace> placeOf(void* stream) noexcept override;
  bool enterPlace(const WorkPlace& place, void*& before) noexcept override;
  void leavePlace(void*) noexcept override {
    CUcontext ignored = nullptr;
    Driver::find()->cuCtxPopCurrent(&ignored);
  }
  void contextEnds(void* context) noexcept override {
    ownContexts_.forget(static_cast<CUcontext>(context));
  }
  artifact::DevicePart partOf(const mneme_launch& launch) noexcept override;
  bool prepareContext() noexcept override;
  std::unique_ptr<DeviceAccess> makeAccess(unsigned device) override;

  bool usesPageable() const noexcept override { return pageableUse_.isSo(gpu::currentCudaSide); }

  bool canPlace(RegionKind kind) const noexcept override { return kind == RegionKind::Allocation; }
  std::unique_ptr<MemoryBackend> makeMemory(unsigned) override {
    return gpu::makeMemory(gpu::currentCudaSide());
  }

  LaunchTraits traitsOf(const mneme_launch& launch) const noexcept override {
    return traitsByAttributes(launch);
  }
  std::span<const char* const> functionsAcrossGrids() const noexcept override {
    return kCudaFunctionsAcrossGrids;
  }
  void* streamOf(const mneme_launch& launch) const noexcept override {
    return streamOfLaunch(launch);
  }
  void prepareKernel(const KernelPlace& kernel) noexcept override {
    const KeepsLastError keeps = keepLastError();
    alignas(16) std::array<char, 1024> attributes; // the struct has 144 bytes in CUDA 13 and grows
    if (runtime_.attributesOf && !kernel.loadedModule) // which is loaded already
      runtime_.attributesOf(attributes.data(), kernel.handle);
  }
  uint32_t carveoutOf(const KernelPlace& kernel) noexcept override;
  CacheConfig cacheConfig() noexcept override {
    const Driver* driver = Driver::find();
    int config = 0;
    return driver && driver->cuCtxGetCacheConfig &&
                   driver->cuCtxGetCacheConfig(&config) == CUDA_SUCCESS
               ? cacheConfigOf(config)
               : CacheConfig::None;
  }
  Capturing capturing(void* stream) noexcept override;
  std::optional<std::vector<embed::DeviceParameter>> parametersOf(const void* function) override;
  std::string architecture() override;

  std::string nameOf(const void* kernel) override { return nameByCuda(kernel); }
  void* ownerOf(const void* kernel, const std::string& name, std::span<void* const> modules,
                std::span<void* const> libraries) noexcept override;

  void* addressOf(const void* hostShadow) noexcept override {
    const KeepsLastError keeps = keepLastError();
    void* address = nullptr;
    const auto ask = runtime_.symbolAddress;
    return ask && ask(&address, hostShadow) == 0 ? address : nullptr;
  }
  std::vector<Region> variablesOf(const KernelPlace& kernel,
                                  std::span<const std::string> names) override;

  const TextureAccess* textures() noexcept override { return cudaTextures(); }
  ContextLimits limits(uint32_t wanted) noexcept override;

  bool findsHeaps() const noexcept override { return true; }
  bool hasMarks() const noexcept override { return true; }
  void* markStream(void* stream) noexcept override;
  bool waitOnStream(void* stream, void* mark) noexcept override {
    const Driver* driver = Driver::find();
    return driver && driver->cuStreamWaitEvent(static_cast<CUstream>(stream),
                                               static_cast<CUevent>(mark), 0) == CUDA_SUCCESS;
  }
  bool isMarkPassed(void* mark, bool shallWait) noexcept override;

private:
  /// The number of the current device, which is the same in the runtime and the driver.
  std::optional<int> ordinal() const noexcept {
    int current = 0;
    if (runtime_.getDevice)
      return runtime_.getDevice(&current) == 0 ? std::optional(current) : std::nullopt;
    const Driver* driver = Driver::find();
    CUdevice device = 0;
    if (!driver || driver->cuCtxGetDevice(&device) != CUDA_SUCCESS)
      return std::nullopt;
    return ordinalOf(*driver, device);
  }
  int waitForAll(unsigned device) noexcept;
  static std::optional<int> ordinalOf(const Driver& driver, CUdevice device) noexcept {
    int ordinal = 0;
    CUdevice numbered = -1;
    while (driver.cuDeviceGet(&numbered, ordinal) == CUDA_SUCCESS && numbered != device)
      ++ordinal;
    return numbered == device ? std::optional(ordinal) : std::nullopt;
  }
  static int waitIn(const Driver& driver, CUcontext context) noexcept {
    CUcontext ignored = nullptr;
    if (driver.cuCtxPushCurrent(context) != CUDA_SUCCESS)
      return CUDA_SUCCESS; // it is no more
    const int status = driver.cuCtxSynchronize();
    driver.cuCtxPopCurrent(&ignored);
    return status;
  }
  bool isCurrent(const Driver& driver, CUdevice device) const noexcept {
    CUdevice wanted = -1;
    const std::optional<int> current = ordinal();
    return current && driver.cuDeviceGet(&wanted, *current) == CUDA_SUCCESS && wanted == device;
  }
  /// While it lives, our own calls of the runtime do not change its last error.
  KeepsLastError keepLastError() const { return {runtime_.peek, runtime_.clear}; }

  Runtime runtime_;
  OwnContexts ownContexts_;
  gpu::PageableUse pageableUse_;
  DeviceWaiters waiters_{[this](unsigned device) { return waitForAll(device); }};
};

/// A function's handle may be that of a library's kernel.
std::optional<std::vector<embed::DeviceParameter>> CudaBackend::parametersOf(const void* function) {
  const Driver* driver = Driver::find();
  return driver ? device::cuda::parametersOf(*driver, function) : std::nullopt;
}

void* CudaBackend::ownerOf(const void* kernel, const std::string& name,
                           std::span<void* const> modules,
                           std::span<void* const> libraries) noexcept {
  const Driver* driver = Driver::find();
  if (!driver)
    return nullptr;
  const RelaxedCapture relaxed(*driver);
  return device::cuda::ownerOf(*driver, kernel, name, modules, libraries);
}

uint32_t CudaBackend::carveoutOf(const KernelPlace& kernel) noexcept {
  const Driver* driver = Driver::find();
  const KeepsLastError keeps = keepLastError();
  void* function = const_cast<void*>(kernel.handle);
  if (!driver ||
      (!kernel.loadedModule &&
       (!runtime_.lookup.functionOf || runtime_.lookup.functionOf(&function, kernel.handle) != 0)))
    return 0;
  int percent = -1;
  const auto ask = [&](void* handle) {
    return driver->cuFuncGetAttribute(&percent, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                      static_cast<CUfunction>(handle)) == CUDA_SUCCESS;
  };
  CUfunction ofKernel = nullptr;
  if (!ask(function) && driver->cuKernelGetFunction &&
      driver->cuKernelGetFunction(&ofKernel, static_cast<CUkernel>(function)) == CUDA_SUCCESS)
    ask(ofKernel);
  return fromCarveout(percent);
}

std::string CudaBackend::architecture() {
  const Driver* driver = Driver::find();
  CUdevice device = 0;
  int major = 0, minor = 0;
  if (!driver || driver->cuCtxGetDevice(&device) != CUDA_SUCCESS ||
      driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) !=
          CUDA_SUCCESS ||
      driver->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) !=
          CUDA_SUCCESS)
    return "";
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

ContextLimits CudaBackend::limits(uint32_t wanted) noexcept {
  ContextLimits limits;
  const Driver* driver = wanted ? Driver::find() : nullptr;
  for (const device::cuda::NumberedLimit& limit : device::cuda::kContextLimits) {
    size_t value = 0;
    if (driver && wanted >> limit.number & 1 &&
        driver->cuCtxGetLimit(&value, limit.number) == CUDA_SUCCESS)
      limits.*limit.value = value;
  }
  return limits;
}

WorkPlace CudaBackend::currentPlace() noexcept {
  WorkPlace place = static_cast<unsigned>(currentDevice());
  const Driver* driver = Driver::find();
  CUcontext current = nullptr;
  CUdevice device = -1;
  if (!driver || driver->cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current ||
      driver->cuCtxGetDevice(&device) != CUDA_SUCCESS ||
      primaryContext(*driver, device) == current || greenContext(*driver, nullptr))
    return place;
  place.context = current;
  ownContexts_.note(current, place.device);
  return place;
}

bool CudaBackend::prepareContext() noexcept {
  const Driver* driver = Driver::find();
  if (!driver)
    return false;
  if (const gpu::Side side = gpu::currentCudaSide(); side.vendor && isCurrent(*driver, side.device))
    return true;
  CUcontext current = nullptr;
  CUdevice device = -1;
  if (driver->cuCtxGetCurrent(&current) == CUDA_SUCCESS && current &&
      driver->cuCtxGetDevice(&device) == CUDA_SUCCESS && isCurrent(*driver, device) &&
      primaryContext(*driver, device))
    return false; // a context of the application's own
  // The runtime makes or selects its context at the first call that needs one; this is the
  // cheapest. The driver leaves it to the program.
  return runtime_.free && runtime_.free(nullptr) == 0 && gpu::currentCudaSide().vendor;
}

/// A green context is current in one thread at most and is not made current here.
std::optional<WorkPlace> CudaBackend::placeOf(void* handle) noexcept {
  const Driver* driver = Driver::find();
  const auto stream = static_cast<CUstream>(handle);
  CUcontext context = nullptr, current = nullptr;
  CUdevice device = -1;
  if (!driver || driver->cuStreamGetCtx(stream, &context) != CUDA_SUCCESS)
    return std::nullopt;
  if (driver->cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context)
    return currentPlace();
  if (greenContext(*driver, stream))
    return WorkPlace(static_cast<unsigned>(currentDevice()));
  CUcontext ignored = nullptr;
  if (driver->cuCtxPushCurrent(context) != CUDA_SUCCESS)
    return std::nullopt;
  const CUresult status = driver->cuCtxGetDevice(&device);
  driver->cuCtxPopCurrent(&ignored);
  const auto number = status == CUDA_SUCCESS ? ordinalOf(*driver, device) : std::nullopt;
  if (!number)
    return std::nullopt;
  WorkPlace place = static_cast<unsigned>(*number);
  if (primaryContext(*driver, device) != context) {
    place.context = context;
    ownContexts_.note(context, place.device);
  }
  return place;
}

bool CudaBackend::enterPlace(const WorkPlace& place, void*&) noexcept {
  const Driver* driver = Driver::find();
  CUdevice wanted = -1;
  if (!driver || driver->cuDeviceGet(&wanted, static_cast<int>(place.device)) != CUDA_SUCCESS)
    return false;
  const CUcontext context =
      place.context ? static_cast<CUcontext>(place.context) : primaryContext(*driver, wanted);
  if (!context || driver->cuCtxPushCurrent(context) != CUDA_SUCCESS)
    return false;
  if (ordinal() == static_cast<int>(place.device))
    return true;
  leavePlace(nullptr); // the runtime goes by something else
  return false;
}

/// Asks green contexts, and those of the program's own, which may be made for a part of a device.
artifact::DevicePart CudaBackend::partOf(const mneme_launch& launch) noexcept {
  const Driver* driver = Driver::find();
  const WorkPlace place = placeOfLaunch(launch);
  void* const stream = streamOfLaunch(launch);
  CUdevice device = 0;
  int all = 0;
  CUdevResource part{};
  if (!driver || !driver->cuGreenCtxGetDevResource || !driver->cuCtxGetDevResource ||
      driver->cuDeviceGet(&device, static_cast<int>(place.device)) != CUDA_SUCCESS ||
      driver->cuDeviceGetAttribute(&all, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device) !=
          CUDA_SUCCESS)
    return {};
  CUresult known = CUDA_ERROR_NOT_FOUND;
  if (const CUgreenCtx green =
          greenContext(*driver, isDefaultStream(stream) ? nullptr : static_cast<CUstream>(stream)))
    known = driver->cuGreenCtxGetDevResource(green, &part, CU_DEV_RESOURCE_TYPE_SM);
  else if (place.context)
    known = driver->cuCtxGetDevResource(static_cast<CUcontext>(place.context), &part,
                                        CU_DEV_RESOURCE_TYPE_SM);
  const auto whole = static_cast<uint32_t>(all);
  return known == CUDA_SUCCESS && part.smCount > 0 && part.smCount < whole
             ? artifact::DevicePart{part.smCount, whole}
             : artifact::DevicePart();
}

/// Waits for the primary context, in which memory is placed.
int CudaBackend::synchronizeDevice(unsigned device) noexcept {
  const Driver* driver = Driver::find();
  CUdevice wanted = 0;
  if (!driver || driver->cuDeviceGet(&wanted, static_cast<int>(device)) != CUDA_SUCCESS)
    return synchronize();
  const CUcontext context = primaryContext(*driver, wanted);
  CUcontext current = nullptr;
  if (!context || (driver->cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context))
    return synchronize();
  return waitIn(*driver, context);
}

/// For a thread of ours, in which no device is current. Where the program has not yet made a
/// context there is nothing to wait for.
int CudaBackend::waitForAll(unsigned device) noexcept {
  const Driver* driver = Driver::find();
  CUdevice numbered = 0;
  if (!driver || driver->cuDeviceGet(&numbered, static_cast<int>(device)) != CUDA_SUCCESS)
    return CUDA_SUCCESS;
  const CUcontext primary = primaryContext(*driver, numbered);
  const int status = primary ? waitIn(*driver, primary) : CUDA_SUCCESS;
  try {
    const int ofOwn = ownContexts_.waitForAll(
        device, [&](CUcontext context) { return waitIn(*driver, context); });
    return status ? status : ofOwn;
  } catch (const std::exception&) { // no memory
    return status;
  }
}

std::unique_ptr<DeviceAccess> CudaBackend::makeAccess(unsigned device) {
  const gpu::Side side = gpu::currentCudaSide();
  if (!side.vendor)
    throw Error(ErrorCode::DeviceFailed,
                "GPU " + std::to_string(device) + " has no context the recorder can use");
  return gpu::makeAccess(side, streamOfLaunch);
}

Capturing CudaBackend::capturing(void* stream) noexcept {
  const Driver* driver = Driver::find();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!driver)
    return Capturing::No;
  const CUresult result = driver->cuStreamIsCapturing(static_cast<CUstream>(stream), &status);
  if (result == CUDA_ERROR_INVALID_CONTEXT)
    return Capturing::No; // nothing was ever started
  return capturingBy(result, status);
}

std::vector<Region> CudaBackend::variablesOf(const KernelPlace& kernel,
                                             std::span<const std::string> names) {
  const Driver* driver = Driver::find();
  const KeepsLastError keeps = keepLastError();
  auto module = static_cast<CUmodule>(kernel.loadedModule);
  if (driver && !module)
    module = moduleOf(*driver, runtime_.lookup, kernel.handle);
  else if (driver && kernel.isOfLibrary)
    module = moduleOf(*driver, static_cast<CUlibrary>(kernel.loadedModule));
  std::vector<Region> found;
  for (const std::string& name : names) {
    CUdeviceptr place = 0;
    size_t sizeBytes = 0;
    if (driver && module &&
        driver->cuModuleGetGlobal(&place, &sizeBytes, module, name.c_str()) == CUDA_SUCCESS &&
        sizeBytes > 0)
      found.push_back(variableRegion(name, reinterpret_cast<const void*>(place), sizeBytes));
  }
  return found;
}

void* CudaBackend::markStream(void* stream) noexcept {
  const Driver* driver = Driver::find();
  CUevent event = nullptr;
  if (!driver || driver->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
    return nullptr;
  if (driver->cuEventRecord(event, static_cast<CUstream>(stream)) == CUDA_SUCCESS)
    return event;
  driver->cuEventDestroy(event);
  return nullptr;
}

bool CudaBackend::isMarkPassed(void* mark, bool shallWait) noexcept {
  const Driver& driver = *Driver::find(); // which made the mark
  const auto event = static_cast<CUevent>(mark);
  const RelaxedCapture relaxed(driver);
  const CUresult result = shallWait ? driver.cuEventSynchronize(event) : driver.cuEventQuery(event);
  if (result == CUDA_ERROR_NOT_READY)
    return false;
  driver.cuEventDestroy(event);
  return true;
}

} // namespace

std::unique_ptr<Backend> makeCudaBackend() {
  const Runtime runtime;
  return runtime.isThere() ? std::make_unique<CudaBackend>(runtime) : nullptr;
}

std::unique_ptr<Backend> makeCudaDriverBackend() {
  const char* const named = environmentValue("MNEME_DEVICE");
  const bool isExpected = named && std::string_view(named).starts_with("cuda");
  return isExpected || find<void*>("cuInit") ? std::make_unique<CudaBackend>(Runtime{}) : nullptr;
}

} // namespace mneme::record
