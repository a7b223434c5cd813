#include "runtime/devices/hip/hip_driver.h"

#include <exception>
#include <filesystem>

#include <dlfcn.h>
#include <unistd.h>

#include "runtime/core/base/dynamic_library.h"
#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"

namespace mneme::device::hip {

namespace {

constexpr const char* libraryNames[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                        "libamdhip64.so"};
constexpr const char* libraryVariable = "MNEME_HIP_LIBRARY";
/// Without the kernel driver's file there is no AMD GPU, and ROCm need not be started to know.
constexpr const char* kernelDriver = "/dev/kfd";
/// Exported by mneme's own HIP runtime on the CPU device.
constexpr const char* markOnCpu = "mneme_hiprt_device_name";

/// What HIP 5 exports hipExtModuleLaunchKernel() as, which its header declares as C++.
constexpr const char* extLaunchOfHip5 =
    "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_"
    "P11ihipEvent_tS6_j";

/// See Driver::mappingBytes(): 7.0 and 7.14, the first after 7.2 that is known to be right.
constexpr int firstOfEqualParts = 70'000'000, firstOfAnyParts = 71'400'000;

/// A function of HIP and the ROCm that has it first; null: every version since 5.2.
struct Name {
  const char* symbol;
  const char* since = nullptr;
};

template <typename Function>
void bind(const DynamicLibrary& library, Function& function, Name name) {
  void* const symbol = library.findSymbol(name.symbol);
  if (!symbol)
    throw Error(ErrorCode::BackendUnavailable, std::string("this ROCm has no ") + name.symbol +
                                                   " (needed since ROCm " +
                                                   (name.since ? name.since : "5.2") +
                                                   "); use a whole installation of ROCm 6.2 to 7");
  function = reinterpret_cast<Function>(symbol);
}

template <typename Function>
void bindIfThere(const DynamicLibrary& library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(library.findSymbol(name));
}

void bindAll(const DynamicLibrary& library, Driver& driver) {
#define MNEME_FUNCTION(result, name, arguments) bind(library, driver.name, {#name});
#define MNEME_FUNCTION_IF_THERE(result, name, arguments) bindIfThere(library, driver.name, #name);
#include "runtime/devices/hip/driver_functions.def"
  if (!driver.hipGetDevicePropertiesR0600 && !driver.hipGetDeviceProperties)
    bind(library, driver.hipGetDeviceProperties, {"hipGetDeviceProperties"});
  if (!driver.hipExtModuleLaunchKernel)
    bindIfThere(library, driver.hipExtModuleLaunchKernel, extLaunchOfHip5);
}

std::string describeWith(const Driver& driver, hipError_t result) {
  const char* text = driver.hipGetErrorString(result);
  const char* name = driver.hipGetErrorName(result);
  return std::string(text ? text : "unknown error") + " (" + (name ? name : "code") + ", " +
         std::to_string(static_cast<int>(result)) + ")";
}

/// What a user can do about a HIP that does not start.
const char* adviceFor(hipError_t result) {
  switch (result) {
  case hipErrorNoDevice:
  case hipErrorInvalidDevice: // what ROCm before 6 says without a GPU
    return "; check that this job or container was given a GPU (/dev/kfd and /dev/dri), "
           "HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES";
  case hipErrorInsufficientDriver:
    return "; the kernel driver amdgpu is older than this ROCm needs";
  default:
    return "; see whether rocminfo works on this machine";
  }
}

bool isLoaded(const char* name) {
  void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (library)
    dlclose(library);
  return library != nullptr;
}

/// \throws Error{BackendUnavailable}
DynamicLibrary openLibrary() {
  for (const char* name : libraryNames) // that of the program around us
    if (isLoaded(name))
      return DynamicLibrary::open(name);
  if (const char* named = environmentValue(libraryVariable); named && *named)
    return DynamicLibrary::open(named);
  std::error_code ignored;
  if (!std::filesystem::exists(kernelDriver, ignored))
    throw Error(ErrorCode::BackendUnavailable,
                std::string("there is no ") + kernelDriver +
                    ", the file of the kernel driver amdgpu; HIP programs run on the CPU device "
                    "(--device cpu)");
  std::string failures;
  for (const char* name : libraryNames) {
    try {
      return DynamicLibrary::open(name);
    } catch (const Error& failure) {
      failures = failure.what();
    }
  }
  throw Error(ErrorCode::BackendUnavailable,
              failures +
                  "; install ROCm 6.2 to 7, add its lib directory to LD_LIBRARY_PATH, or name "
                  "the file in " +
                  libraryVariable);
}

/// The one HIP of this process, or why there is none. Never destroyed: objects that outlive main()
/// may still need it.
struct Opened {
  Driver driver{};
  std::string whyNot;
  pid_t process = getpid();

  Opened() {
    try {
      const auto* library = new DynamicLibrary(openLibrary());
      if (library->findSymbol(markOnCpu)) {
        whyNot = "no AMD GPU: this process was started on the CPU device";
        return;
      }
      bindAll(*library, driver);
    } catch (const std::exception& failure) {
      whyNot = std::string("no AMD GPU can be used: ") + failure.what();
      return;
    }
    const hipError_t result = driver.hipInit(0);
    if (result != hipSuccess)
      whyNot = "HIP does not start: " + describeWith(driver, result) + adviceFor(result);
    int version = 0;
    driver.mapsEqualPartsOnly = driver.hipRuntimeGetVersion(&version) == hipSuccess &&
                                version >= firstOfEqualParts && version < firstOfAnyParts;
  }
};

const Opened& opened() {
  static const Opened* instance = new Opened();
  return *instance;
}

} // namespace

const Driver& Driver::get() {
  const Opened& state = opened();
  if (!state.whyNot.empty())
    throw Error(ErrorCode::BackendUnavailable, state.whyNot);
  if (state.process != getpid())
    throw Error(ErrorCode::BackendUnavailable,
                "HIP was started before this process was forked and cannot be used in it; start "
                "worker processes afresh (\"spawn\")");
  return state.driver;
}

const Driver* Driver::find() noexcept {
  try {
    const Opened& state = opened();
    return state.whyNot.empty() && state.process == getpid() ? &state.driver : nullptr;
  } catch (...) {
    return nullptr;
  }
}

std::string Driver::textOf(gpu::Status status) const {
  return describeWith(*this, static_cast<hipError_t>(status));
}

bool Driver::isLost(gpu::Status status) const noexcept {
  switch (static_cast<hipError_t>(status)) {
  case hipErrorECCNotCorrectable:
  case hipErrorIllegalAddress:
  case hipErrorLaunchTimeOut:
  case hipErrorContextIsDestroyed:
  case hipErrorAssert:
  case hipErrorLaunchFailure:
  case hipErrorUnknown:
    return true;
  default:
    return false;
  }
}

void Driver::raise(gpu::Status status, std::string_view what) const {
  const std::string message = std::string(what) + " failed: " + textOf(status);
  hipGetLastError(); // the program around us must not get our error again
  switch (static_cast<hipError_t>(status)) {
  case hipErrorOutOfMemory:
    throw Error(ErrorCode::OutOfMemory, message);
  case hipErrorNoDevice:
  case hipErrorInvalidDevice:
  case hipErrorInsufficientDriver:
    throw Error(ErrorCode::BackendUnavailable, message);
  case hipErrorInvalidImage:
  case hipErrorNoBinaryForGpu:
  case hipErrorInvalidKernelFile:
  case hipErrorInvalidSource:
  case hipErrorSharedObjectSymbolNotFound:
  case hipErrorSharedObjectInitFailed:
    throw Error(ErrorCode::CompileFailed, message);
  default:
    throw Error(ErrorCode::DeviceFailed, message);
  }
}

} // namespace mneme::device::hip
