// Room emulator/runtimes: the CUDA driver API on the CPU device, built on its CUDA runtime
// (../cuda). This file: how functions of the driver API call those of the runtime API.
#pragma once

#include <algorithm>
#include <cstddef>

#include "runtime/core/base/last_error.h"
#include "runtime/devices/cuda/driver_types.h"

namespace mneme::cpu_runtime::cuda_driver {

using namespace mneme::device::cuda; // the driver API's own words

/// Returns a function of the CPU device's runtime itself, bypassing interposed functions, so that a
/// recorder that sees the driver's functions does not see the same call twice. Null if it does not
/// exist.
void* runtimeFunction(const char* name) noexcept;

/// Converts a code of the runtime to that of the driver; most are the same.
int driverStatus(int runtimeStatus) noexcept;

KeepsLastError keepRuntimeError();

/// A string as a template argument.
template <size_t length> struct Name {
  consteval Name(const char (&name)[length]) { std::copy_n(name, length, text); }
  char text[length];
};

/// Calls the runtime's function `name`, which takes exactly these types. As with a real driver, a
/// failure does not become the runtime's last error.
template <Name name, typename... Args> int forward(Args... args) {
  using Function = int (*)(Args...);
  static const auto function = reinterpret_cast<Function>(runtimeFunction(name.text));
  if (!function)
    return CUDA_ERROR_NOT_INITIALIZED;
  const KeepsLastError keeps = keepRuntimeError();
  return driverStatus(function(args...));
}

template <typename Value> int give(Value* out, Value value) {
  if (!out)
    return CUDA_ERROR_INVALID_VALUE;
  *out = value;
  return CUDA_SUCCESS;
}

inline void* asPointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline void** asPointer(CUdeviceptr* address) { return reinterpret_cast<void**>(address); }

/// Checks a device number; the only device is 0.
inline int checkDevice(int device) {
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// Returns the current context of this thread; may be null.
void* currentContext() noexcept;

} // namespace mneme::cpu_runtime::cuda_driver
