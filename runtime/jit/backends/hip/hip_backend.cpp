#include "runtime/jit/backends/hip/hip_backend.h"

#include <algorithm>
#include <array>
#include <climits>

#include "runtime/core/base/error.h"
#include "runtime/devices/cuda/application.h"
#include "runtime/devices/hip/hip_description.h"
#include "runtime/jit/backends/hip/hip_kernel.h"
#include "runtime/jit/backends/hip/runtime.h"

namespace mneme::jit {
namespace {

using namespace device::hip;
using device::cuda::CU_LAUNCH_ATTRIBUTE_COOPERATIVE; // HIP's structures and numbers are CUDA's
using device::cuda::RuntimeLaunchConfig;

constexpr std::array kLegacyLaunches = {"hipLaunchKernel", "hipLaunchCooperativeKernel",
                                        "hipLaunchKernelExC"};
constexpr std::array kPerThreadLaunches = {"hipLaunchKernel_spt", "hipLaunchCooperativeKernel_spt"};
constexpr int kHip6 = 60000000;

hipStream_t perThreadStream() noexcept {
  return reinterpret_cast<hipStream_t>(uintptr_t{2}); // hipStreamPerThread
}

/// Looked up once: the addresses of a process do not change.
template <size_t Count>
std::array<const void*, Count> addressesOf(const std::array<const char*, Count>& names) noexcept {
  std::array<const void*, Count> addresses{};
  std::ranges::transform(names, addresses.begin(), findInHip);
  return addresses;
}

bool isPerThreadEntry(const void* entry) noexcept {
  static const auto addresses = addressesOf(kPerThreadLaunches);
  return entry && std::ranges::find(addresses, entry) != addresses.end();
}

/// How a launch goes; nothing for one that cannot go as a module's.
enum class Form { Plain, Cooperative, Impossible };

Form formOf(const mneme_launch& launch) noexcept {
  if (launch.form == MNEME_LAUNCH_COOPERATIVE)
    return Form::Cooperative;
  if (launch.form != MNEME_LAUNCH_EX)
    return Form::Plain;
  const auto* config = static_cast<const RuntimeLaunchConfig*>(launch.config);
  Form form = config ? Form::Plain : Form::Impossible;
  for (unsigned index = 0; config && config->attributes && index < config->attributeCount; ++index)
    if (config->attributes[index].id != CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      return Form::Impossible;
    else if (config->attributes[index].value.cooperative)
      form = Form::Cooperative;
  return form;
}

class HipBackend final : public Backend {
public:
  explicit HipBackend(const Driver& driver) : driver_(driver) {
    int version = 0;
    isOld_ = runtime_.getVersion && runtime_.getVersion(&version) == hipSuccess && version < kHip6;
  }

  int currentDevice() noexcept override {
    int device = -1;
    return driver_.hipGetDevice(&device) == hipSuccess ? device : -1;
  }
  std::string target(int device) override { return targetOf(driver_, device); }
  std::string deviceName(int device) override { return gpuName(driver_, device); }
  bool needsPlacedGlobals() const override { return true; }

  bool mayReshape(const mneme_launch& launch) const noexcept override {
    return formOf(launch) == Form::Plain;
  }

  bool isCaptured(const mneme_launch& launch) noexcept override {
    void* stream = launch.stream;
    if (!stream && isPerThreadEntry(launch.vendorEntry))
      stream = perThreadStream();
    if (!stream || !runtime_.streamIsCapturing)
      return false;
    const KeepsLastError keeps = runtime_.keepLastError();
    int status = 0; // none
    return runtime_.streamIsCapturing(stream, &status) != hipSuccess || status != 0;
  }

  /// HIP knows nothing of the host's ordinary memory.
  bool isHostReadable(const void* pointer) noexcept override {
    const KeepsLastError keeps = runtime_.keepLastError();
    HipPointerFacts facts{};
    if (!runtime_.getPointerAttributes ||
        runtime_.getPointerAttributes(&facts, pointer) != hipSuccess)
      return true;
    const int device = isOld_ ? 1 : 2;
    return facts.type != device || facts.isManaged;
  }

  bool copyToHost(void* to, const void* from, size_t sizeBytes) noexcept override {
    const KeepsLastError keeps = runtime_.keepLastError();
    const device::hip::CaptureRelaxed relaxed(HipRuntime::get().exchangeCaptureMode);
    return driver_.copyToHost(to, reinterpret_cast<uint64_t>(from), sizeBytes, perThreadStream()) ==
               hipSuccess &&
           driver_.waitForStream(perThreadStream()) == hipSuccess;
  }

  std::unique_ptr<LoadedKernel> load(const KernelImage& image) override {
    return std::make_unique<HipKernel>(driver_, image);
  }

  bool launch(LoadedKernel& kernel, const mneme_launch& launch, const tuned::Dims& dims,
              int& status) noexcept override {
    const auto& loaded = static_cast<const HipKernel&>(kernel);
    const Form form = formOf(launch);
    // A block that the program's kernel does not allow must fail in the program.
    const uint64_t threads = uint64_t{launch.block.x} * launch.block.y * launch.block.z;
    const uint64_t most = loaded.maxThreadsPerBlock();
    if (form == Form::Impossible || loaded.device() != currentDevice() ||
        (most != 0 && threads > most) || launch.sharedBytes > UINT_MAX ||
        (form == Form::Cooperative && !driver_.hipModuleLaunchCooperativeKernel))
      return false;
    auto stream = static_cast<hipStream_t>(launch.stream);
    if (!stream && isPerThreadEntry(launch.vendorEntry))
      stream = perThreadStream();
    const auto sharedBytes = static_cast<unsigned>(launch.sharedBytes);
    const auto& [grid, block] = dims;
    // Nothing has run if this fails: the program's own launch says it as the program expects.
    const KeepsLastError keeps = runtime_.keepLastError();
    status = form == Form::Cooperative
                 ? driver_.hipModuleLaunchCooperativeKernel(loaded.function(), grid.x, grid.y,
                                                            grid.z, block.x, block.y, block.z,
                                                            sharedBytes, stream, launch.args)
                 : driver_.hipModuleLaunchKernel(loaded.function(), grid.x, grid.y, grid.z, block.x,
                                                 block.y, block.z, sharedBytes, stream, launch.args,
                                                 nullptr);
    return status == hipSuccess;
  }

private:
  const Driver& driver_;
  const HipRuntime& runtime_ = HipRuntime::get();
  bool isOld_ = false;
};

} // namespace

bool isHipEntry(const void* vendorEntry) noexcept {
  static const auto addresses = addressesOf(kLegacyLaunches);
  return vendorEntry && (isPerThreadEntry(vendorEntry) ||
                         std::ranges::find(addresses, vendorEntry) != addresses.end());
}

std::unique_ptr<Backend> makeHipBackend(std::string& why) {
  try {
    return std::make_unique<HipBackend>(Driver::get());
  } catch (const Error& failure) {
    why = failure.what();
    return nullptr;
  }
}

} // namespace mneme::jit
