#include "runtime/emulator/runtimes/cuda_driver/forward.h"

#include <dlfcn.h>

namespace mneme::cpu_runtime::cuda_driver {

void* runtimeFunction(const char* name) noexcept {
  // This library needs that one, so it is there; the handle is kept.
  static void* runtime = dlopen("libmneme_cudart.so", RTLD_LAZY | RTLD_NOLOAD);
  return runtime ? dlsym(runtime, name) : nullptr;
}

int driverStatus(int runtimeStatus) noexcept {
  switch (runtimeStatus) {
  case 13: // cudaErrorInvalidSymbol
    return CUDA_ERROR_NOT_FOUND;
  case 35: // cudaErrorInsufficientDriver
    return CUDA_ERROR_NOT_INITIALIZED;
  case 98: // cudaErrorInvalidDeviceFunction
    return CUDA_ERROR_INVALID_HANDLE;
  default:
    // Configurations, pitches, kinds of copies: arguments, as the driver sees them.
    return runtimeStatus >= 9 && runtimeStatus < 100 && runtimeStatus != CUDA_ERROR_STUB_LIBRARY &&
                   runtimeStatus != CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER &&
                   runtimeStatus != CUDA_ERROR_DEVICE_UNAVAILABLE
               ? CUDA_ERROR_INVALID_VALUE
               : runtimeStatus;
  }
}

KeepsLastError keepRuntimeError() {
  using Ask = int (*)();
  static const auto peek = reinterpret_cast<Ask>(runtimeFunction("cudaPeekAtLastError"));
  static const auto clear = reinterpret_cast<Ask>(runtimeFunction("cudaGetLastError"));
  return {peek, clear};
}

} // namespace mneme::cpu_runtime::cuda_driver
