#include "runtime/record/interpose/cpu_device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <link.h>

#include "runtime/device/cuda/application.h"
#include "runtime/record/interpose/vendor_runtime.h"

namespace mneme::record {
namespace {

/// One of our runtimes. Functions may be null.
struct Runtime {
  bool isThere = false;
  int (*adopt)(const void* base, size_t sizeBytes, int kind) = nullptr;
  void (*disown)(const void* base) = nullptr;
  void (*prepare)(const void* kernel) = nullptr;
  int (*visitGlobals)(const void* kernel, Vendor::VisitGlobal visit, void* user) = nullptr;
  void (*visitAllGlobals)(Vendor::VisitGlobal visit, void* user) = nullptr;
  int (*synchronize)() = nullptr;
  int (*getDevice)(int* device) = nullptr;
  int (*symbolAddress)(void** address, const void* hostShadow) = nullptr;
  int (*streamIsCapturing)(void* stream, int* status) = nullptr;
  int (*peek)() = nullptr;
  int (*clear)() = nullptr;
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
  own(runtime.prepare, "_prepare");
  own(runtime.visitGlobals, "_visit_globals");
  own(runtime.visitAllGlobals, "_visit_all_globals");
  own(runtime.synchronize, "_synchronize"); // also while a stream is being captured
  if (!runtime.synchronize)
    theirs(runtime.synchronize, "DeviceSynchronize");
  theirs(runtime.getDevice, "GetDevice");
  theirs(runtime.symbolAddress, "GetSymbolAddress");
  theirs(runtime.streamIsCapturing, "StreamIsCapturing");
  theirs(runtime.peek, "PeekAtLastError");
  theirs(runtime.clear, "GetLastError");
  runtime.isThere = runtime.adopt && runtime.disown && runtime.synchronize && runtime.getDevice;
  return runtime;
}

// A process may use both: the device is one, and what one runtime does not know the other does.
const std::array<Runtime, 2>& runtimes() {
  static const std::array<Runtime, 2> found = {findRuntime("mneme_cudart", "cuda"),
                                               findRuntime("mneme_hiprt", "hip")};
  return found;
}

/// The first success, else the last failure, of those that have the function.
template <auto Member, typename... Args> int firstSuccess(Args... args) {
  int status = kInitializationError;
  for (const Runtime& runtime : runtimes()) {
    if (!runtime.isThere || !(runtime.*Member))
      continue;
    const device::cuda::KeepsLastError keeps(runtime.peek, runtime.clear);
    if ((status = (runtime.*Member)(args...)) == 0)
      break;
  }
  return status;
}

template <auto Member> bool hasAny() {
  return std::ranges::any_of(runtimes(), [](const Runtime& runtime) {
    return runtime.isThere && runtime.*Member != nullptr;
  });
}

/// What a program that uses HIP and no CUDA is recorded with by tradition.
constexpr uint64_t kHipWindowBytes = 64ull << 30;

bool isLoaded(const char* prefix) {
  struct Search {
    std::string prefix;
    bool isFound = false;
  } search{std::string("/") + prefix};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* user) {
        auto& wanted = *static_cast<Search*>(user);
        wanted.isFound |= info->dlpi_name && std::strstr(info->dlpi_name, wanted.prefix.c_str());
        return 0;
      },
      &search);
  return search.isFound;
}

int synchronizeAll() {
  int status = 0;
  for (const Runtime& runtime : runtimes())
    if (runtime.isThere)
      if (const int failed = runtime.synchronize(); failed != 0)
        status = failed;
  return status;
}

template <auto Member, typename... Args> void tellAll(Args... args) {
  for (const Runtime& runtime : runtimes())
    if (runtime.isThere && runtime.*Member)
      (runtime.*Member)(args...);
}

/// Each runtime counts its program's memory for itself: the first that has no room refuses for all.
int adoptEverywhere(const void* base, size_t sizeBytes, int kind) {
  for (const Runtime& runtime : runtimes())
    if (const int status = runtime.isThere ? runtime.adopt(base, sizeBytes, kind) : 0; status) {
      tellAll<&Runtime::disown>(base);
      return status;
    }
  return 0;
}

} // namespace

bool describeCpuDevice(Vendor& vendor) {
  if (!hasAny<&Runtime::adopt>())
    return false;
  vendor.isCpuDevice = true;
  vendor.deviceKind = "cpu";
  if (isLoaded("libamdhip64.so") && !isLoaded("libcudart.so"))
    vendor.windowBytes = kHipWindowBytes;
  vendor.runtimePrefixes = {"libcudart.so",   "libmneme_cudart.so", "libmneme_cuda_driver.so",
                            "libamdhip64.so", "libmneme_hiprt.so",  "librecord.so"};
  vendor.deviceSynchronize = synchronizeAll;
  vendor.getDevice = [](int* device) { return firstSuccess<&Runtime::getDevice>(device); };
  vendor.symbolAddress = [](void** address, const void* hostShadow) {
    return firstSuccess<&Runtime::symbolAddress>(address, hostShadow);
  };
  if (hasAny<&Runtime::streamIsCapturing>())
    vendor.streamIsCapturing = [](void* stream, int* status) {
      return firstSuccess<&Runtime::streamIsCapturing>(stream, status);
    };
  if (hasAny<&Runtime::visitGlobals>())
    vendor.visitGlobals = [](const void* kernel, Vendor::VisitGlobal visit, void* user) {
      return firstSuccess<&Runtime::visitGlobals>(kernel, visit, user);
    };
  if (hasAny<&Runtime::visitAllGlobals>())
    vendor.visitAllGlobals = [](Vendor::VisitGlobal visit, void* user) {
      tellAll<&Runtime::visitAllGlobals>(visit, user);
    };
  vendor.prepareKernel = [](const void* kernel) { tellAll<&Runtime::prepare>(kernel); };
  vendor.adopt = adoptEverywhere;
  vendor.disown = [](const void* base) { tellAll<&Runtime::disown>(base); };
  return true;
}

} // namespace mneme::record
