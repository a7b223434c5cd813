#include "runtime/recorder/backends/cpu/cpu_backend.h"

#include <algorithm>
#include <array>
#include <string>

#include "runtime/core/base/last_error.h"
#include "runtime/recorder/backends/vendor_runtime.h"
#include "runtime/recorder/global_places.h"
#include "runtime/recorder/process_facts.h"

namespace mneme::record {
namespace {

using artifact::Region;
using artifact::RegionKind;

using VisitGlobal = void (*)(void* user, const char* name, void* address, size_t sizeBytes);

/// One of our runtimes. Functions beside the first four may be null.
struct Runtime {
  int (*adopt)(const void* base, size_t sizeBytes, int kind) = nullptr;
  void (*disown)(const void* base) = nullptr;
  int (*synchronize)() = nullptr;
  int (*getDevice)(int* device) = nullptr;
  int (*findAllocation)(const void* pointer, void** base, size_t* sizeBytes, int* kind) = nullptr;
  void (*prepare)(const void* kernel) = nullptr;
  int (*visitGlobals)(const void* kernel, VisitGlobal visit, void* user) = nullptr;
  void (*visitAllGlobals)(VisitGlobal visit, void* user) = nullptr;
  uint64_t (*heapState)() = nullptr;
  int (*isBusy)() = nullptr;
  int (*symbolAddress)(void** address, const void* hostShadow) = nullptr;
  int (*streamIsCapturing)(void* stream, int* status) = nullptr;
  int (*peek)() = nullptr;
  int (*clear)() = nullptr;
  const char* (*errorString)(int status) = nullptr;

  bool isThere() const noexcept { return adopt && disown && synchronize && getDevice; }
};

Runtime findRuntime(const std::string& ours, const std::string& vendors) {
  const auto own = [&]<typename Function>(Function& function, const char* name) {
    function = find<Function>((ours + name).c_str());
  };
  const auto theirs = [&]<typename Function>(Function& function, const char* name) {
    function = find<Function>((vendors + name).c_str());
  };
  Runtime runtime;
  own(runtime.adopt, "_adopt");
  own(runtime.disown, "_disown");
  own(runtime.findAllocation, "_find_allocation");
  own(runtime.prepare, "_prepare");
  own(runtime.visitGlobals, "_visit_globals");
  own(runtime.visitAllGlobals, "_visit_all_globals");
  own(runtime.heapState, "_heap_state");
  own(runtime.isBusy, "_is_busy");
  own(runtime.synchronize, "_synchronize"); // also while a stream is being captured
  if (!runtime.synchronize)
    theirs(runtime.synchronize, "DeviceSynchronize");
  theirs(runtime.getDevice, "GetDevice");
  theirs(runtime.symbolAddress, "GetSymbolAddress");
  theirs(runtime.streamIsCapturing, "StreamIsCapturing");
  theirs(runtime.peek, "PeekAtLastError");
  theirs(runtime.clear, "GetLastError");
  theirs(runtime.errorString, "GetErrorString");
  return runtime;
}

constexpr std::array kRuntimeFiles = {
    "libcudart.so",   "libmneme_cudart.so", "libmneme_cuda_driver.so",
    "libamdhip64.so", "libmneme_hiprt.so",  "librecord.so"};
constexpr std::array kCudaFiles = {"libcudart.so"}, kHipFiles = {"libamdhip64.so"};

/// What a program that uses HIP and no CUDA is recorded with by tradition.
constexpr uint64_t kHipWindowBytes = 64ull << 30;

int kindNumber(RegionKind kind) noexcept {
  constexpr int device = 0, managed = 1, host = 2;
  return kind == RegionKind::Managed ? managed : kind == RegionKind::HostPinned ? host : device;
}

RegionKind kindOf(int number) noexcept {
  constexpr RegionKind kinds[] = {RegionKind::Allocation, RegionKind::Managed,
                                  RegionKind::HostPinned};
  return number >= 0 && number < 3 ? kinds[number] : RegionKind::Allocation;
}

// A process may use both runtimes: the device is one, and what one runtime does not know the other
// does.
class CpuBackend final : public Backend {
public:
  explicit CpuBackend(std::vector<Runtime> runtimes)
      : runtimes_(std::move(runtimes)),
        isHipAlone_(!loadedLibraries(kHipFiles).empty() && loadedLibraries(kCudaFiles).empty()) {}

  std::string deviceName(int) const override { return "cpu"; }
  std::span<const char* const> runtimeFiles() const noexcept override { return kRuntimeFiles; }
  uint64_t windowBytes() const noexcept override {
    return isHipAlone_ ? kHipWindowBytes : Backend::windowBytes();
  }
  bool isOwnRuntime() const noexcept override { return true; }

  const char* wordsOf(int status) const noexcept override {
    const auto words = runtimes_.front().errorString;
    return words ? words(status) : nullptr;
  }

  int currentDevice() noexcept override {
    int device = 0;
    firstSuccess<&Runtime::getDevice>(&device);
    return device;
  }

  int synchronize() noexcept override {
    int status = 0;
    for (const Runtime& runtime : runtimes_)
      if (const int failed = runtime.synchronize(); failed != 0)
        status = failed;
    return status;
  }

  /// Nearly all work is done when a call returns. What goes on is asked about: a thread that waited
  /// in the runtime would count as one of the program's, which a kernel that waits may fail for.
  std::optional<int> synchronizeWithin(unsigned, const Patience& patience) noexcept override {
    return waitUntil([this] { return !isBusy(); }, patience) ? std::optional(synchronize())
                                                             : std::nullopt;
  }

  /// One mark for all streams, passed when the device has nothing to do; none while it has not.
  bool hasMarks() const noexcept override { return isBusy(); }
  void* markStream(void*) noexcept override { return isBusy() ? this : nullptr; }
  bool isMarkPassed(void*, bool shallWait) noexcept override {
    if (shallWait)
      synchronize();
    return !isBusy();
  }

  std::unique_ptr<DeviceAccess> makeAccess(unsigned device) override {
    return std::make_unique<HostAccess>(
        [this, device](const Patience& patience) { return synchronizeWithin(device, patience); },
        [this](uint64_t address) { return memoryAt(address); });
  }

  bool canPlace(RegionKind) const noexcept override { return true; }
  std::unique_ptr<MemoryBackend> makeMemory(unsigned) override { return makeHostBackend(); }

  /// Each runtime counts its program's memory for itself: the first that has no room refuses for
  /// all.
  int adopt(const void* base, size_t sizeBytes, RegionKind kind) noexcept override {
    for (const Runtime& runtime : runtimes_)
      if (const int status = runtime.adopt(base, sizeBytes, kindNumber(kind)); status != 0) {
        disown(base);
        return status;
      }
    return 0;
  }

  void disown(const void* base) noexcept override { tellAll<&Runtime::disown>(base); }

  LaunchTraits traitsOf(const mneme_launch& launch) const noexcept override {
    return traitsByAttributes(launch);
  }

  /// It does nothing here, and counts where the recording is replayed on a GPU.
  CacheConfig cacheConfig() noexcept override {
    static const auto ask = find<int (*)(int*)>("cudaDeviceGetCacheConfig");
    int config = 0;
    return ask && ask(&config) == 0 ? cacheConfigOf(config) : CacheConfig::None;
  }

  std::span<const char* const> functionsAcrossGrids() const noexcept override {
    return kFunctionsAcrossGrids;
  }

  void prepareKernel(const KernelPlace& kernel) noexcept override {
    tellAll<&Runtime::prepare>(kernel.handle);
  }

  Capturing capturing(void* stream) noexcept override {
    int status = 0;
    const int result = firstSuccess<&Runtime::streamIsCapturing>(stream, &status);
    return capturingBy(result, status);
  }

  std::string nameOf(const void* kernel) override { return nameByCuda(kernel); }

  void* addressOf(const void* hostShadow) noexcept override {
    void* address = nullptr;
    return firstSuccess<&Runtime::symbolAddress>(&address, hostShadow) == 0 ? address : nullptr;
  }

  std::vector<Region> variablesOf(const KernelPlace& kernel,
                                  std::span<const std::string> names) override {
    std::vector<Region> found;
    firstSuccess<&Runtime::visitGlobals>(kernel.handle, &addRegion, &found);
    std::erase_if(found, [&](const Region& region) {
      return std::ranges::find(names, region.name) == names.end();
    });
    return found;
  }

  std::optional<std::vector<Region>> allVariables() override {
    if (std::ranges::none_of(runtimes_, &Runtime::visitAllGlobals))
      return std::nullopt;
    std::vector<Region> found;
    tellAll<&Runtime::visitAllGlobals>(&addRegion, &found);
    return found;
  }

  uint64_t heapState() const noexcept override {
    uint64_t state = 0;
    for (const Runtime& runtime : runtimes_)
      if (runtime.heapState)
        state ^= runtime.heapState();
    return state;
  }

private:
  std::optional<Region> memoryAt(uint64_t address) const noexcept {
    void* base = nullptr;
    size_t bytes = 0;
    int kind = 0;
    const bool isKnown = std::ranges::any_of(runtimes_, [&](const Runtime& runtime) {
      return runtime.findAllocation &&
             runtime.findAllocation(reinterpret_cast<const void*>(address), &base, &bytes, &kind) ==
                 0;
    });
    if (!isKnown)
      return std::nullopt;
    Region region;
    region.address = reinterpret_cast<uint64_t>(base);
    region.sizeBytes = bytes;
    region.kind = kindOf(kind);
    return region;
  }

  bool isBusy() const noexcept {
    return std::ranges::any_of(
        runtimes_, [](const Runtime& runtime) { return runtime.isBusy && runtime.isBusy(); });
  }

  static void addRegion(void* user, const char* name, void* address, size_t sizeBytes) {
    static_cast<std::vector<Region>*>(user)->push_back(variableRegion(name, address, sizeBytes));
  }

  /// The first success, else the last failure, of those that have the function; 0 if none has.
  template <auto Member, typename... Args> int firstSuccess(Args... args) const {
    int status = 0;
    for (const Runtime& runtime : runtimes_) {
      if (!(runtime.*Member))
        continue;
      const KeepsLastError keeps(runtime.peek, runtime.clear);
      if ((status = (runtime.*Member)(args...)) == 0)
        break;
    }
    return status;
  }

  template <auto Member, typename... Args> void tellAll(Args... args) const {
    for (const Runtime& runtime : runtimes_)
      if (runtime.*Member)
        (runtime.*Member)(args...);
  }

  std::vector<Runtime> runtimes_;
  bool isHipAlone_;
};

} // namespace

std::unique_ptr<Backend> makeCpuBackend() {
  std::vector<Runtime> runtimes = {findRuntime("mneme_cudart", "cuda"),
                                   findRuntime("mneme_hiprt", "hip")};
  std::erase_if(runtimes, [](const Runtime& runtime) { return !runtime.isThere(); });
  return runtimes.empty() ? nullptr : std::make_unique<CpuBackend>(std::move(runtimes));
}

} // namespace mneme::record
