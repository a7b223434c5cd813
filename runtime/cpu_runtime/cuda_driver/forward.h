// Room cpu_runtime: the CUDA driver API on the CPU device, as a second face of its CUDA
// runtime (../cuda). Here: how a function of the driver API calls one of the runtime API.
#pragma once

#include <algorithm>
#include <cstddef>

#include "runtime/device/cuda/application.h"
#include "runtime/device/cuda/driver_types.h"

namespace mneme::cpu_runtime::cuda_driver {

using namespace mneme::device::cuda; // the driver API's own words

/// A function of the CPU device's runtime itself, whatever stands in front of it: a recorder that
/// sees the driver's functions is not to see the same call again. Null if it is not there.
void* runtimeFunction(const char* name) noexcept;

/// The runtime's code as the driver has it: most are the same.
int driverStatus(int runtimeStatus) noexcept;

KeepsLastError keepRuntimeError();

/// A string as a template argument.
template <size_t length> struct Name {
  consteval Name(const char (&name)[length]) { std::copy_n(name, length, text); }
  char text[length];
};

/// Calls the runtime's function `name`, which takes exactly these types. As with a driver, a
/// failure is no last error of the runtime's.
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

/// There is one device, number 0.
inline int checkDevice(int device) {
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// The context that is current in this thread; may be null.
void* currentContext() noexcept;

} // namespace mneme::cpu_runtime::cuda_driver
