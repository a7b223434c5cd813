#include "runtime/devices/cuda/cuda_driver.h"

#include <exception>

#include <unistd.h>

#include "runtime/core/base/dynamic_library.h"
#include "runtime/core/base/error.h"

namespace mneme::device::cuda {

namespace {

/// Every Linux installation of the driver has this name.
constexpr const char* libraryName = "libcuda.so.1";
/// And so has, in a process on the CPU device, what serves the driver API there
/// (emulator/runtimes/cuda_driver).
constexpr const char* markOnCpu = "mneme_cuda_driver_on_cpu";

template <typename Function>
void bind(const DynamicLibrary& library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(library.symbol(name));
}

template <typename Function>
void bindIfThere(const DynamicLibrary& library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(library.findSymbol(name));
}

void bindAll(const DynamicLibrary& library, Driver& driver) {
#define MNEME_FUNCTION(result, name, arguments) bind(library, driver.name, #name);
#define MNEME_FUNCTION_V2(result, name, arguments) bind(library, driver.name, #name "_v2");
#define MNEME_FUNCTION_IF_THERE(result, name, arguments) bindIfThere(library, driver.name, #name);
#define MNEME_FUNCTION_IF_THERE_V2(result, name, arguments)                                        \
  bindIfThere(library, driver.name, #name "_v2");
#include "runtime/devices/cuda/driver_functions.def"
  // The second version (12.8) differs in what it answers for events that were not recorded.
  if (!driver.cuEventElapsedTime)
    bind(library, driver.cuEventElapsedTime, "cuEventElapsedTime");
}

std::string describeWith(const Driver& driver, CUresult result) {
  const char* text = nullptr;
  const char* name = nullptr;
  if (driver.cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
    text = "unknown error";
  if (driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    name = "code";
  return std::string(text) + " (" + name + ", " + std::to_string(static_cast<int>(result)) + ")";
}

/// What a user can do about a driver that does not start.
const char* adviceFor(CUresult result) {
  switch (result) {
  case CUDA_ERROR_NO_DEVICE:
    return "; check that the machine has a GPU, that this job or container was given one, and "
           "CUDA_VISIBLE_DEVICES";
  case CUDA_ERROR_STUB_LIBRARY:
    return "; libcuda.so.1 is the toolkit's stub: remove its directory from LD_LIBRARY_PATH";
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    return "; the library and the kernel module are of different driver versions: restart the "
           "machine after a driver update, or remove the compatibility libraries from "
           "LD_LIBRARY_PATH";
  case CUDA_ERROR_SYSTEM_NOT_READY:
    return "; start the system's services for the GPU (nvidia-fabricmanager)";
  case CUDA_ERROR_NOT_INITIALIZED:
    return "; CUDA cannot be used in a process forked from one that used it: start workers afresh";
  default:
    return "; see whether nvidia-smi works on this machine";
  }
}

/// The one driver of this process, or why there is none. Never destroyed: objects that outlive
/// main() may still need it.
struct Opened {
  Driver driver{};
  std::string whyNot;
  pid_t process = getpid();

  Opened() {
    try {
      const auto* library = new DynamicLibrary(DynamicLibrary::open(libraryName));
      if (library->findSymbol(markOnCpu)) {
        whyNot = "no NVIDIA driver: this process was started on the CPU device";
        return;
      }
      bindAll(*library, driver);
    } catch (const std::exception& failure) {
      whyNot = std::string("no NVIDIA driver found: ") + failure.what() +
               "; install one for CUDA 11.8 or newer";
      return;
    }
    const CUresult result = driver.cuInit(0);
    if (result != CUDA_SUCCESS)
      whyNot =
          "the CUDA driver does not start: " + describeWith(driver, result) + adviceFor(result);
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
                "CUDA was started before this process was forked and cannot be used in it; start "
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

std::string describe(CUresult result) {
  if (const Driver* driver = Driver::find())
    return describeWith(*driver, result);
  return "CUDA error " + std::to_string(static_cast<int>(result));
}

bool isSticky(CUresult result) noexcept {
  switch (result) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_NVLINK_UNCORRECTABLE:
  case CUDA_ERROR_CONTAINED:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
  case CUDA_ERROR_TENSOR_MEMORY_LEAK:
  case CUDA_ERROR_EXTERNAL_DEVICE:
  case CUDA_ERROR_UNKNOWN:
    return true;
  default:
    return false;
  }
}

void fail(CUresult result, std::string_view what) {
  const std::string message = std::string(what) + " failed: " + describe(result);
  switch (result) {
  case CUDA_ERROR_OUT_OF_MEMORY:
    throw Error(ErrorCode::OutOfMemory, message);
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
  case CUDA_ERROR_DEVICE_UNAVAILABLE:
  case CUDA_ERROR_SYSTEM_NOT_READY:
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    throw Error(ErrorCode::BackendUnavailable, message);
  case CUDA_ERROR_INVALID_IMAGE:
  case CUDA_ERROR_NO_BINARY_FOR_GPU:
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_JIT_COMPILATION_DISABLED:
  case CUDA_ERROR_INVALID_SOURCE:
    throw Error(ErrorCode::CompileFailed, message);
  default:
    throw Error(ErrorCode::DeviceFailed, message);
  }
}

} // namespace mneme::device::cuda
