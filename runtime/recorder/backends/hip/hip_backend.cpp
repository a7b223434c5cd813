#include "runtime/recorder/backends/hip/hip_backend.h"

#include <array>
#include <string>

#include <dlfcn.h>

#include "runtime/core/base/error.h"
#include "runtime/devices/hip/hip_driver.h"
#include "runtime/recorder/backends/hip/hip_gpu.h"
#include "runtime/recorder/backends/hip/program_variables.h"
#include "runtime/recorder/backends/hip/runtime.h"
#include "runtime/recorder/backends/vendor_runtime.h"
#include "runtime/recorder/device_waiter.h"
#include "runtime/recorder/global_places.h"

namespace mneme::record {
namespace {

using namespace device::hip;
using artifact::Region;
using artifact::RegionKind;
using gpu::HipRuntime;

constexpr std::array kRuntimeFiles = {"libamdhip64.so", "librecord.so"};
constexpr std::array kKernelLibraries = {"librocblas",   "libhipblas",   "librocfft", "libMIOpen",
                                         "librocsolver", "librocsparse", "librccl",   "librocrand"};
/// What a program is recorded with by tradition.
constexpr uint64_t kWindowBytes = 64ull << 30;

/// Null is the default stream for all of HIP's functions, but for those of these names.
bool isPerThread(const void* vendorEntry) noexcept {
  for (const char* name : {"hipLaunchKernel_spt", "hipLaunchCooperativeKernel_spt"})
    if (vendorEntry &&
        (vendorEntry == dlsym(RTLD_DEFAULT, name) || vendorEntry == find<void*>(name)))
      return true;
  return false;
}

void* streamOfLaunch(const mneme_launch& launch) noexcept {
  return launch.stream || !isPerThread(launch.vendorEntry) ? launch.stream
                                                           : perThreadStream(nullptr);
}

class HipBackend final : public Backend {
public:
  std::string whyNot() const override {
    try {
      Driver::get();
      return "";
    } catch (const Error& reason) {
      return reason.what();
    }
  }
  std::string deviceName(int device) const override { return "hip:" + std::to_string(device); }
  std::span<const char* const> runtimeFiles() const noexcept override { return kRuntimeFiles; }
  std::span<const char* const> kernelLibraries() const noexcept override {
    return kKernelLibraries;
  }
  uint64_t windowBytes() const noexcept override { return kWindowBytes; }

  int currentDevice() noexcept override {
    int device = 0;
    runtime_.getDevice(&device);
    return device;
  }
  int synchronize() noexcept override { return runtime_.synchronize(); }
  int synchronizeDevice(unsigned device) noexcept override;
  std::optional<int> synchronizeWithin(unsigned device,
                                       const Patience& patience) noexcept override {
    return waiters_.wait(device, patience);
  }
  unsigned deviceCount() noexcept override {
    int count = 0;
    return runtime_.deviceCount && runtime_.deviceCount(&count) == hipSuccess && count > 0
               ? static_cast<unsigned>(count)
               : 1;
  }
  std::optional<WorkPlace> placeOf(void* stream) noexcept override;
  bool enterPlace(const WorkPlace& place, void*& before) noexcept override;
  void leavePlace(void* before) noexcept override {
    if (before)
      runtime_.setDevice(static_cast<int>(reinterpret_cast<intptr_t>(before) - 1));
  }
  bool prepareContext() noexcept override {
    const KeepsLastError keeps = keepLastError();
    return gpu::currentHipSide().vendor;
  }
  std::unique_ptr<DeviceAccess> makeAccess(unsigned device) override {
    const gpu::Side side = gpu::currentHipSide();
    if (!side.vendor)
      throw Error(ErrorCode::DeviceFailed,
                  "GPU " + std::to_string(device) + " cannot be used by the recorder");
    return gpu::makeAccess(side, streamOfLaunch);
  }

  bool usesPageable() const noexcept override { return pageableUse_.isSo(gpu::currentHipSide); }

  bool canPlace(RegionKind kind) const noexcept override { return kind == RegionKind::Allocation; }
  std::unique_ptr<MemoryBackend> makeMemory(unsigned) override {
    return gpu::makeMemory(gpu::currentHipSide());
  }

  LaunchTraits traitsOf(const mneme_launch& launch) const noexcept override {
    return traitsByAttributes(launch);
  }
  std::span<const char* const> functionsAcrossGrids() const noexcept override {
    return kHipFunctionsAcrossGrids;
  }
  void* streamOf(const mneme_launch& launch) const noexcept override {
    return streamOfLaunch(launch);
  }
  void prepareKernel(const KernelPlace& kernel) noexcept override {
    const KeepsLastError keeps = keepLastError();
    alignas(16) std::array<char, 1024> attributes;     // the struct has 56 bytes in HIP 5
    if (runtime_.attributesOf && !kernel.loadedModule) // which is loaded already
      runtime_.attributesOf(attributes.data(), kernel.handle);
  }
  Capturing capturing(void* stream) noexcept override {
    const KeepsLastError keeps = keepLastError();
    int status = 0;
    const auto ask = runtime_.streamIsCapturing;
    const int result = ask ? ask(stream, &status) : hipSuccess;
    return capturingBy(result, status);
  }

  void* addressOf(const void* hostShadow) noexcept override {
    const KeepsLastError keeps = keepLastError();
    void* address = nullptr;
    const auto ask = runtime_.symbolAddress;
    return ask && ask(&address, hostShadow) == hipSuccess ? address : nullptr;
  }

  std::vector<Region> variablesOf(const KernelPlace& kernel,
                                  std::span<const std::string> names) override;

  bool hasMarks() const noexcept override { return runtime_.streamWaitEvent; }
  void* markStream(void* stream) noexcept override;
  bool waitOnStream(void* stream, void* mark) noexcept override {
    const KeepsLastError keeps = keepLastError();
    return runtime_.streamWaitEvent(stream, mark, 0) == hipSuccess;
  }
  bool isMarkPassed(void* mark, bool shallWait) noexcept override;

private:
  /// While it lives, our own calls of the runtime do not change its last error.
  KeepsLastError keepLastError() const { return {runtime_.peek, runtime_.clear}; }

  /// Without bytes if it cannot be found.
  Region variableOf(const KernelPlace& kernel, const std::string& name);

  const HipRuntime& runtime_ = HipRuntime::get();
  ProgramVariables programVariables_;
  gpu::PageableUse pageableUse_;
  DeviceWaiters waiters_{[this](unsigned device) { return synchronizeDevice(device); }};
};

std::optional<WorkPlace> HipBackend::placeOf(void* stream) noexcept {
  const KeepsLastError keeps = keepLastError();
  int device = -1;
  if (runtime_.streamDevice)
    return runtime_.streamDevice(stream, &device) == hipSuccess && device >= 0
               ? std::optional<WorkPlace>(device)
               : std::nullopt;
  if (runtime_.streamDeviceId)
    device = runtime_.streamDeviceId(stream);
  return device >= 0 ? std::optional<WorkPlace>(device) : std::nullopt;
}

/// `before` is null where nothing had to be changed, else the number of the other device and one.
bool HipBackend::enterPlace(const WorkPlace& place, void*& before) noexcept {
  const KeepsLastError keeps = keepLastError();
  int current = -1;
  const int wanted = static_cast<int>(place.device);
  before = nullptr;
  if (runtime_.getDevice(&current) != hipSuccess)
    return false;
  if (current == wanted)
    return true;
  if (!runtime_.setDevice || runtime_.setDevice(wanted) != hipSuccess)
    return false;
  before = reinterpret_cast<void*>(intptr_t{current} + 1);
  return true;
}

int HipBackend::synchronizeDevice(unsigned device) noexcept {
  const AtPlace there(*this, device);
  return synchronize();
}

Region HipBackend::variableOf(const KernelPlace& kernel, const std::string& name) {
  const Driver* driver = Driver::find();
  hipDeviceptr_t place = nullptr;
  size_t sizeBytes = 0;
  if (driver && kernel.loadedModule) {
    driver->hipModuleGetGlobal(&place, &sizeBytes, static_cast<hipModule_t>(kernel.loadedModule),
                               name.c_str());
  } else if (kernel.unit) {
    const VariableSource source = sourceOf(*kernel.unit, name);
    sizeBytes = source.sizeBytes;
    if (sizeBytes > 0)
      place = addressOf(programVariables_.shadowOf(source, name));
  }
  return variableRegion(name, place, place ? sizeBytes : 0);
}

std::vector<Region> HipBackend::variablesOf(const KernelPlace& kernel,
                                            std::span<const std::string> names) {
  const KeepsLastError keeps = keepLastError();
  std::vector<Region> found;
  for (const std::string& name : names)
    if (Region variable = variableOf(kernel, name); variable.sizeBytes > 0)
      found.push_back(std::move(variable));
  return found;
}

void* HipBackend::markStream(void* stream) noexcept {
  const KeepsLastError keeps = keepLastError();
  const Driver* driver = Driver::find();
  hipEvent_t event = nullptr;
  if (!driver || driver->createEvent(&event, device::gpu::kUntimedEvent) != hipSuccess)
    return nullptr;
  if (driver->recordEvent(event, static_cast<hipStream_t>(stream)) == hipSuccess)
    return event;
  driver->destroyEvent(event);
  return nullptr;
}

bool HipBackend::isMarkPassed(void* mark, bool shallWait) noexcept {
  const KeepsLastError keeps = keepLastError();
  const device::hip::CaptureRelaxed relaxed(gpu::HipRuntime::get().exchangeCaptureMode);
  const Driver& driver = *Driver::find(); // which made the mark
  const auto event = static_cast<hipEvent_t>(mark);
  const int result = shallWait ? driver.waitForEvent(event) : driver.queryEvent(event);
  if (result == hipErrorNotReady)
    return false;
  driver.destroyEvent(event);
  return true;
}

} // namespace

std::unique_ptr<Backend> makeHipBackend() {
  return HipRuntime::get().isThere() ? std::make_unique<HipBackend>() : nullptr;
}

} // namespace mneme::record
