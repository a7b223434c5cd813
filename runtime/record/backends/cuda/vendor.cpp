#include "runtime/record/backends/cuda/gpu.h"

#include <string>

#include "runtime/base/error.h"

namespace mneme::record {

const char* const kSharedRuntimeHint = "-lcudart, CUDA::cudart";

} // namespace mneme::record

namespace mneme::record::gpu {
namespace {

using namespace device::cuda;

constexpr int kInitializationError = 3;

/// Filled in once by describeGpu(), before any of these functions is called.
struct Runtime {
  int (*getDevice)(int* device) = nullptr;
  int (*deviceSynchronize)() = nullptr;
  int (*free)(void* pointer) = nullptr;
  KernelLookup lookup;
};
Runtime runtime;

bool isCurrentDevice(const Driver& driver, CUdevice device) {
  int ordinal = 0;
  CUdevice wanted = -1;
  return runtime.getDevice(&ordinal) == 0 && driver.cuDeviceGet(&wanted, ordinal) == CUDA_SUCCESS &&
         wanted == device;
}

int prepareContext() {
  const Driver* driver = Driver::find();
  if (!driver)
    return kInitializationError;
  if (const Side side = currentSide(); side.driver && isCurrentDevice(*driver, side.device))
    return 0;
  CUcontext current = nullptr;
  CUdevice device = -1;
  if (driver->cuCtxGetCurrent(&current) == CUDA_SUCCESS && current &&
      driver->cuCtxGetDevice(&device) == CUDA_SUCCESS && isCurrentDevice(*driver, device) &&
      primaryContext(*driver, device))
    return kInitializationError; // a context of the application's own
  // The runtime makes or selects its context at the first call that needs one; this is the
  // cheapest.
  if (runtime.free(nullptr) != 0)
    return kInitializationError;
  return currentSide().driver ? 0 : kInitializationError;
}

int synchronizeDevice(unsigned device) {
  int current = -1;
  const Driver* driver = Driver::find();
  CUdevice other = 0;
  if (!driver || runtime.getDevice(&current) != 0 || current == static_cast<int>(device) ||
      driver->cuDeviceGet(&other, static_cast<int>(device)) != CUDA_SUCCESS)
    return runtime.deviceSynchronize();
  const CUcontext context = primaryContext(*driver, other);
  if (!context || driver->cuCtxPushCurrent(context) != CUDA_SUCCESS)
    return runtime.deviceSynchronize();
  const int status = driver->cuCtxSynchronize();
  CUcontext ignored = nullptr;
  driver->cuCtxPopCurrent(&ignored);
  return status;
}

int streamIsCapturing(void* stream, int* status) {
  const Driver* driver = Driver::find();
  CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
  *status = 0;
  if (!driver)
    return 0;
  const CUresult result = driver->cuStreamIsCapturing(static_cast<CUstream>(stream), &found);
  if (result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_NOT_INITIALIZED)
    return 0; // nothing was ever started
  *status = found;
  return result;
}

int findGlobal(const void* kernel, const char* name, void** address, size_t* sizeBytes) {
  const Driver* driver = Driver::find();
  const CUmodule module = driver ? moduleOf(*driver, runtime.lookup, kernel) : nullptr;
  CUdeviceptr place = 0;
  if (!module)
    return kInitializationError;
  const CUresult result = driver->cuModuleGetGlobal(&place, sizeBytes, module, name);
  *address = reinterpret_cast<void*>(place);
  return result;
}

void* markStream(void* stream) {
  const Driver* driver = Driver::find();
  CUevent event = nullptr;
  if (!driver || driver->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
    return nullptr;
  if (driver->cuEventRecord(event, static_cast<CUstream>(stream)) == CUDA_SUCCESS)
    return event;
  driver->cuEventDestroy(event);
  return nullptr;
}

bool waitOnStream(void* stream, void* mark) {
  const Driver* driver = Driver::find();
  return driver && driver->cuStreamWaitEvent(static_cast<CUstream>(stream),
                                             static_cast<CUevent>(mark), 0) == CUDA_SUCCESS;
}

bool isMarkPassed(void* mark, bool shallWait) {
  const Driver& driver = Driver::get();
  const auto event = static_cast<CUevent>(mark);
  const RelaxedCapture relaxed(driver);
  const CUresult result = shallWait ? driver.cuEventSynchronize(event) : driver.cuEventQuery(event);
  if (result == CUDA_ERROR_NOT_READY)
    return false;
  driver.cuEventDestroy(event);
  return true;
}

} // namespace

Side currentSide() noexcept {
  const Driver* driver = Driver::find();
  Side side;
  if (!driver || driver->cuCtxGetCurrent(&side.context) != CUDA_SUCCESS || !side.context ||
      driver->cuCtxGetDevice(&side.device) != CUDA_SUCCESS ||
      primaryContext(*driver, side.device) != side.context)
    return {};
  side.driver = driver;
  return side;
}

void describeGpu(Vendor& vendor, const RuntimeCalls& calls) {
  runtime.getDevice = vendor.getDevice;
  runtime.deviceSynchronize = vendor.deviceSynchronize;
  runtime.free = calls.free;
  runtime.lookup = calls.lookup;
  vendor.prepareContext = prepareContext;
  vendor.synchronizeDevice = synchronizeDevice;
  vendor.streamIsCapturing = streamIsCapturing;
  vendor.findGlobal = findGlobal;
  vendor.markStream = markStream;
  vendor.waitOnStream = waitOnStream;
  vendor.isMarkPassed = isMarkPassed;
  vendor.makeBackend = [](unsigned) { return makeBackend(currentSide()); };
  vendor.makeAccess = [streamOf = vendor.streamOf](unsigned device) {
    const Side side = currentSide();
    if (!side.driver)
      throw Error(ErrorCode::DeviceFailed,
                  "GPU " + std::to_string(device) + " has no context the recorder can use");
    return makeAccess(side, streamOf);
  };
}

} // namespace mneme::record::gpu
