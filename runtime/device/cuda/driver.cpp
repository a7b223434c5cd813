#include "runtime/device/cuda/driver.h"

#include <exception>
#include <optional>

#include <unistd.h>

#include "runtime/base/dynamic_library.h"
#include "runtime/base/error.h"

namespace mneme::device::cuda {

namespace {

/// Every Linux installation of the driver has this name.
constexpr const char* libraryName = "libcuda.so.1";
/// And so has, in a process on the CPU device, what serves the driver API there
/// (cpu_runtime/cuda_driver).
constexpr const char* markOnCpu = "mneme_cuda_driver_on_cpu";

template <typename Function>
void bind(const DynamicLibrary& library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(library.symbol(name));
}

template <typename Function>
void bindIfThere(const DynamicLibrary& library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(library.findSymbol(name));
}

void bindDevices(const DynamicLibrary& library, Driver& driver) {
  bind(library, driver.cuInit, "cuInit");
  bind(library, driver.cuDriverGetVersion, "cuDriverGetVersion");
  bind(library, driver.cuGetErrorName, "cuGetErrorName");
  bind(library, driver.cuGetErrorString, "cuGetErrorString");
  bind(library, driver.cuDeviceGet, "cuDeviceGet");
  bind(library, driver.cuDeviceGetCount, "cuDeviceGetCount");
  bind(library, driver.cuDeviceGetName, "cuDeviceGetName");
  bind(library, driver.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  bind(library, driver.cuDeviceTotalMem, "cuDeviceTotalMem_v2");
  bind(library, driver.cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer");
  bind(library, driver.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  bind(library, driver.cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  bind(library, driver.cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState");
  bind(library, driver.cuCtxPushCurrent, "cuCtxPushCurrent_v2");
  bind(library, driver.cuCtxPopCurrent, "cuCtxPopCurrent_v2");
  bind(library, driver.cuCtxGetCurrent, "cuCtxGetCurrent");
  bind(library, driver.cuCtxGetDevice, "cuCtxGetDevice");
  bindIfThere(library, driver.cuCtxGetId, "cuCtxGetId");
  bind(library, driver.cuCtxSynchronize, "cuCtxSynchronize");
  bind(library, driver.cuCtxSetLimit, "cuCtxSetLimit");
  bind(library, driver.cuCtxGetLimit, "cuCtxGetLimit");
  bind(library, driver.cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess");
}

void bindMemory(const DynamicLibrary& library, Driver& driver) {
  bind(library, driver.cuMemGetInfo, "cuMemGetInfo_v2");
  bind(library, driver.cuMemAlloc, "cuMemAlloc_v2");
  bind(library, driver.cuMemFree, "cuMemFree_v2");
  bind(library, driver.cuMemGetAddressRange, "cuMemGetAddressRange_v2");
  bind(library, driver.cuPointerGetAttribute, "cuPointerGetAttribute");
  bind(library, driver.cuPointerGetAttributes, "cuPointerGetAttributes");
  bind(library, driver.cuMemHostAlloc, "cuMemHostAlloc");
  bind(library, driver.cuMemFreeHost, "cuMemFreeHost");
  bind(library, driver.cuMemHostRegister, "cuMemHostRegister_v2");
  bind(library, driver.cuMemHostUnregister, "cuMemHostUnregister");
  bind(library, driver.cuMemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2");
  bind(library, driver.cuMemAddressReserve, "cuMemAddressReserve");
  bind(library, driver.cuMemAddressFree, "cuMemAddressFree");
  bind(library, driver.cuMemCreate, "cuMemCreate");
  bind(library, driver.cuMemRelease, "cuMemRelease");
  bind(library, driver.cuMemMap, "cuMemMap");
  bind(library, driver.cuMemUnmap, "cuMemUnmap");
  bind(library, driver.cuMemSetAccess, "cuMemSetAccess");
  bindIfThere(library, driver.cuMemGetAccess, "cuMemGetAccess");
  bind(library, driver.cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity");
  bind(library, driver.cuMemcpyDtoH, "cuMemcpyDtoH_v2");
  bind(library, driver.cuMemcpyHtoD, "cuMemcpyHtoD_v2");
  bind(library, driver.cuMemcpyAsync, "cuMemcpyAsync");
  bind(library, driver.cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
  bind(library, driver.cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
  bind(library, driver.cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
  bind(library, driver.cuMemsetD8Async, "cuMemsetD8Async");
}

void bindQueues(const DynamicLibrary& library, Driver& driver) {
  bind(library, driver.cuStreamCreate, "cuStreamCreate");
  bind(library, driver.cuStreamCreateWithPriority, "cuStreamCreateWithPriority");
  bind(library, driver.cuStreamDestroy, "cuStreamDestroy_v2");
  bind(library, driver.cuStreamSynchronize, "cuStreamSynchronize");
  bind(library, driver.cuStreamQuery, "cuStreamQuery");
  bind(library, driver.cuStreamWaitEvent, "cuStreamWaitEvent");
  bind(library, driver.cuStreamGetCtx, "cuStreamGetCtx");
  bind(library, driver.cuStreamIsCapturing, "cuStreamIsCapturing");
  bind(library, driver.cuThreadExchangeStreamCaptureMode, "cuThreadExchangeStreamCaptureMode");
  bind(library, driver.cuLaunchHostFunc, "cuLaunchHostFunc");
  bind(library, driver.cuEventCreate, "cuEventCreate");
  bind(library, driver.cuEventRecord, "cuEventRecord");
  bind(library, driver.cuEventQuery, "cuEventQuery");
  bind(library, driver.cuEventSynchronize, "cuEventSynchronize");
  bind(library, driver.cuEventDestroy, "cuEventDestroy_v2");
  // The second version (12.8) differs in what it answers for events that were not recorded.
  bindIfThere(library, driver.cuEventElapsedTime, "cuEventElapsedTime_v2");
  if (!driver.cuEventElapsedTime)
    bind(library, driver.cuEventElapsedTime, "cuEventElapsedTime");
}

void bindModules(const DynamicLibrary& library, Driver& driver) {
  bind(library, driver.cuModuleLoadDataEx, "cuModuleLoadDataEx");
  bind(library, driver.cuModuleUnload, "cuModuleUnload");
  bind(library, driver.cuModuleGetFunction, "cuModuleGetFunction");
  bind(library, driver.cuModuleGetGlobal, "cuModuleGetGlobal_v2");
  bind(library, driver.cuFuncGetModule, "cuFuncGetModule");
  bind(library, driver.cuFuncGetAttribute, "cuFuncGetAttribute");
  bind(library, driver.cuFuncSetAttribute, "cuFuncSetAttribute");
  bindIfThere(library, driver.cuFuncGetName, "cuFuncGetName");
  bindIfThere(library, driver.cuFuncGetParamInfo, "cuFuncGetParamInfo");
  bindIfThere(library, driver.cuKernelGetFunction, "cuKernelGetFunction");
  bindIfThere(library, driver.cuKernelGetLibrary, "cuKernelGetLibrary");
  bindIfThere(library, driver.cuLibraryGetModule, "cuLibraryGetModule");
  bind(library, driver.cuLaunchKernel, "cuLaunchKernel");
  bind(library, driver.cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel");
  bind(library, driver.cuLaunchKernelEx, "cuLaunchKernelEx");
  bind(library, driver.cuOccupancyMaxActiveBlocksPerMultiprocessor,
       "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  bind(library, driver.cuOccupancyMaxPotentialClusterSize, "cuOccupancyMaxPotentialClusterSize");
  bind(library, driver.cuOccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters");
}

void bindGraphs(const DynamicLibrary& library, Driver& driver) {
  bindIfThere(library, driver.cuGraphGetNodes, "cuGraphGetNodes");
  bindIfThere(library, driver.cuGraphNodeGetType, "cuGraphNodeGetType");
  bindIfThere(library, driver.cuGraphChildGraphNodeGetGraph, "cuGraphChildGraphNodeGetGraph");
  bindIfThere(library, driver.cuGraphKernelNodeGetParams, "cuGraphKernelNodeGetParams_v2");
  bindIfThere(library, driver.cuGraphKernelNodeGetAttribute, "cuGraphKernelNodeGetAttribute");
  bindIfThere(library, driver.cuGraphExecGetFlags, "cuGraphExecGetFlags");
  bindIfThere(library, driver.cuGraphExecKernelNodeSetParams, "cuGraphExecKernelNodeSetParams_v2");
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
      bindDevices(*library, driver);
      bindMemory(*library, driver);
      bindQueues(*library, driver);
      bindModules(*library, driver);
      bindGraphs(*library, driver);
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
