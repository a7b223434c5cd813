#include "runtime/devices/cuda/loaded_runtime.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string_view>

#include <dlfcn.h>

#include "runtime/devices/cuda/hidden_symbols.h"

namespace mneme::device::cuda {
namespace {

/// Runtimes an application may have opened for itself, out of the global scope.
constexpr std::array kRuntimes = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};

constexpr std::array kLegacyLaunches = {"cudaLaunchKernel", "cudaLaunchCooperativeKernel",
                                        "cudaLaunchKernelExC"};
constexpr std::array kPerThreadLaunches = {
    "cudaLaunchKernel_ptsz", "cudaLaunchCooperativeKernel_ptsz", "cudaLaunchKernelExC_ptsz"};

constexpr const char* kPrefix = "cuda";

/// cudaFuncAttributes. Older runtimes write less of it, newer ones more.
struct FunctionAttributes {
  size_t sharedBytes, constantBytes, localBytes;
  int maxThreadsPerBlock, registers, ptxVersion, binaryVersion, cacheMode;
  int maxDynamicSharedBytes, sharedCarveout;
  int mustSetCluster, clusterWidth, clusterHeight, clusterDepth;
  int clusterPolicy, hasLargeClusters;
  char reserved[1024];
};
static_assert(offsetof(FunctionAttributes, maxDynamicSharedBytes) == 44);
static_assert(offsetof(FunctionAttributes, hasLargeClusters) == 72);

/// The library an address lies in; null for the program itself. The library stays loaded: an
/// application does not unload its runtime while it launches kernels.
void* libraryOf(const void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname)
    return nullptr;
  void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle)
    dlclose(handle);
  return handle;
}

/// The exported function at this address, if it is one.
const char* exportedName(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) && info.dli_saddr == address ? info.dli_sname : nullptr;
}

/// Looks the entry up among the names that a program with a static runtime keeps to itself.
DefaultStream hiddenStream(const HiddenSymbols& hidden, const void* entry) {
  const auto isEntry = [&](const char* name) { return hidden.find(name) == entry; };
  return std::ranges::any_of(kPerThreadLaunches, isEntry) ? DefaultStream::PerThread
         : std::ranges::any_of(kLegacyLaunches, isEntry)  ? DefaultStream::Legacy
                                                          : DefaultStream::Unknown;
}

class Finder {
public:
  explicit Finder(const void* entry) : library_(libraryOf(entry)) {
    if (!entry || exportedName(entry))
      return;
    hidden_.emplace(entry, kPrefix);
    if (hiddenStream(*hidden_, entry) == DefaultStream::Unknown)
      hidden_.reset();
  }

  template <typename Function> void operator()(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(find(name));
  }

private:
  void* find(const char* name) const {
    if (hidden_) // another runtime would know nothing of its kernels
      return hidden_->find(name);
    if (void* address = library_ ? dlsym(library_, name) : nullptr)
      return address;
    if (void* address = dlsym(RTLD_DEFAULT, name))
      return address;
    for (const char* library : kRuntimes)
      if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
        void* address = dlsym(handle, name);
        dlclose(handle);
        if (address)
          return address;
      }
    return nullptr;
  }

  void* library_;
  std::optional<HiddenSymbols> hidden_; ///< of the program or library with a runtime inside
};

DefaultStream streamByName(std::string_view name) {
  for (const char* known : kPerThreadLaunches)
    if (name == known)
      return DefaultStream::PerThread;
  for (const char* known : kLegacyLaunches)
    if (name == known)
      return DefaultStream::Legacy;
  return DefaultStream::Unknown;
}

DefaultStream lookUpStream(const void* entry) {
  if (const char* name = exportedName(entry))
    if (const DefaultStream stream = streamByName(name); stream != DefaultStream::Unknown)
      return stream;
  // A position-dependent program names a function by a stub of its own, which dlsym finds too.
  const auto isEntry = [&](const char* name) { return dlsym(RTLD_DEFAULT, name) == entry; };
  if (std::ranges::any_of(kPerThreadLaunches, isEntry))
    return DefaultStream::PerThread;
  if (std::ranges::any_of(kLegacyLaunches, isEntry))
    return DefaultStream::Legacy;
  return hiddenStream(HiddenSymbols(entry, kPrefix), entry);
}

/// Answers by entry. A free place has a null entry; answers are written before entries.
struct KnownEntry {
  std::atomic<const void*> entry{nullptr};
  std::atomic<DefaultStream> stream{DefaultStream::Unknown};
  std::atomic<bool> isTaken{false};
};
std::array<KnownEntry, 16> knownEntries;

void remember(const void* entry, DefaultStream stream) {
  for (KnownEntry& known : knownEntries)
    if (!known.isTaken.exchange(true, std::memory_order_acq_rel)) {
      known.stream.store(stream, std::memory_order_relaxed);
      known.entry.store(entry, std::memory_order_release);
      return;
    }
}

} // namespace

LoadedRuntime LoadedRuntime::find(const void* entry) noexcept {
  const Finder find(entry);
  LoadedRuntime runtime;
  find(runtime.getDevice, "cudaGetDevice");
  find(runtime.peekAtLastError, "cudaPeekAtLastError");
  find(runtime.getLastError, "cudaGetLastError");
  find(runtime.getSymbolAddress, "cudaGetSymbolAddress");
  find(runtime.getFuncAttributes, "cudaFuncGetAttributes");
  find(runtime.graphKernelNodeGetParams, "cudaGraphKernelNodeGetParams");
  find(runtime.lookup.functionOf, "cudaGetFuncBySymbol");
  find(runtime.lookup.kernelOf, "cudaGetKernel");
  return runtime;
}

bool LoadedRuntime::askWishes(const void* handle, LaunchWishes& wishes) const noexcept {
  if (!getFuncAttributes)
    return false;
  const KeepsLastError keeps = keepLastError();
  alignas(16) FunctionAttributes attributes{};
  if (getFuncAttributes(&attributes, handle) != 0)
    return false;
  wishes = {attributes.maxThreadsPerBlock, attributes.maxDynamicSharedBytes,
            attributes.sharedCarveout, attributes.clusterPolicy, attributes.hasLargeClusters != 0};
  return true;
}

const void* LoadedRuntime::handleIn(CUgraphNode node) const noexcept {
  if (!graphKernelNodeGetParams)
    return nullptr;
  const KeepsLastError keeps = keepLastError();
  struct {
    const void* function = nullptr;
    char others[120] = {}; ///< of cudaKernelNodeParams, and room
  } params;
  return graphKernelNodeGetParams(node, &params) == 0 ? params.function : nullptr;
}

CUdeviceptr LoadedRuntime::addressOf(const void* hostShadow) const noexcept {
  if (!getSymbolAddress || !hostShadow)
    return 0;
  const KeepsLastError keeps = keepLastError();
  void* address = nullptr;
  return getSymbolAddress(&address, hostShadow) == 0 ? reinterpret_cast<CUdeviceptr>(address) : 0;
}

DefaultStream defaultStreamOf(const void* entry) noexcept {
  for (const KnownEntry& known : knownEntries)
    if (known.entry.load(std::memory_order_acquire) == entry && entry)
      return known.stream.load(std::memory_order_relaxed);
  if (!entry)
    return DefaultStream::Unknown;
  const DefaultStream stream = lookUpStream(entry);
  remember(entry, stream);
  return stream;
}

} // namespace mneme::device::cuda
