// Room emulator/runtimes: a stand-in for AMD's HIP runtime, for tests without an AMD GPU. Every
// function is an entry: a jump to mneme's own runtime, to a function of this folder that replaces
// it, or to a failure requested by the environment.
#pragma once

#include <cstddef>

#include "runtime/core/base/error.h"

namespace mneme::stand_in {

/// Returns the version that hipRuntimeGetVersion reports: MNEME_STAND_IN_VERSION, such as 70200000,
/// or 0 for that of mneme's own runtime.
int versionAskedFor() noexcept;

/// Returns the number of devices it imitates, from MNEME_STAND_IN_DEVICES; 1 by default. All of
/// them are the same device.
int deviceCount() noexcept;
/// Returns a device's number in mneme's own runtime.
inline int numberOf(int device) noexcept {
  return device >= 0 && device < deviceCount() ? 0 : device;
}

/// hipError_t; the others are in hip/error_names.inc.
inline constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101,
                     kInvalidHandle = 400, kNotFound = 500, kNotReady = 600, kNotSupported = 801;

/// Returns a function of mneme's own runtime; null if it has none of this name.
void* nextFunction(const char* name) noexcept;

/// Reports launches to the stand-in for AMD's profiler if it is loaded, and to nothing else.
/// `runtime` is mneme's own.
void registerAtProfiler(void* runtime) noexcept;

/// Self: the function here that takes its place.
template <typename Function> Function next(const char* name) noexcept {
  return reinterpret_cast<Function>(nextFunction(name));
}

/// The faults of MNEME_STAND_IN_FAULT, separated by commas:
///   hipMalloc              every call fails with hipErrorNotSupported
///   hipMalloc:3            the third call fails
///   hipMalloc:3=hipErrorOutOfMemory
///   missing:hipMalloc      dlsym() does not find it
///   hang:hipModuleLaunchKernel:2   the second launch never ends
///   elsewhere:hipMemAddressReserve:1 the requested address is not granted
enum class FaultKind { Fail, Missing, Hang, Elsewhere };

struct Fault {
  FaultKind kind = FaultKind::Fail;
  int status = kNotSupported;
};

/// Returns whether the environment requests a fault of this function.
bool hasFaults(const char* function) noexcept;
/// Counts a call and returns the fault that it must have, or null.
const Fault* faultOfCall(const char* function) noexcept;
/// Returns whether the calling thread's current call must return another address than requested.
bool isElsewhere() noexcept;
/// Calls `act` with every function that must be missing.
void visitMissing(void (*act)(const char* function)) noexcept;

/// Makes the device hang from now on.
void hang() noexcept;
/// Returns the replacement of a function on a device that hangs; null if the function still works.
void* whileHanging(const char* function) noexcept;
bool canHang() noexcept;

/// Makes every entry call a function that returns `status`.
void* failureWith(int status) noexcept;

} // namespace mneme::stand_in

/// Defines a function of this folder that replaces the runtime's own.
#define MNEME_STAND_IN(name) extern "C" [[gnu::visibility("hidden")]] int own_##name
