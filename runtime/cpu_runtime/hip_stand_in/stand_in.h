// Room cpu_runtime: a stand-in for AMD's HIP runtime, for tests without an AMD GPU. Every function
// is an entry: a jump to mneme's own runtime, to a function of this folder that takes its place, or
// to a failure that the environment asks for.
#pragma once

#include <cstddef>

#include "runtime/base/error.h"

namespace mneme::stand_in {

/// What hipRuntimeGetVersion tells: MNEME_STAND_IN_VERSION, as in 70200000, or 0: what mneme's own
/// runtime tells.
int versionAskedFor() noexcept;

/// How many devices it plays, by MNEME_STAND_IN_DEVICES: 1 without. All are the one there is.
int deviceCount() noexcept;
/// A device's number in mneme's own runtime.
inline int numberOf(int device) noexcept {
  return device >= 0 && device < deviceCount() ? 0 : device;
}

/// hipError_t; the others as hip/error_names.inc has them.
inline constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101,
                     kInvalidHandle = 400, kNotFound = 500, kNotReady = 600, kNotSupported = 801;

/// A function of mneme's own runtime; null if it has none of this name.
void* nextFunction(const char* name) noexcept;

/// Has launches shown to the stand-in for AMD's profiler where it is loaded, and to nobody else.
/// `runtime` is mneme's own.
void registerAtProfiler(void* runtime) noexcept;

/// Self: the function here that takes its place.
template <typename Function> Function next(const char* name) noexcept {
  return reinterpret_cast<Function>(nextFunction(name));
}

/// What MNEME_STAND_IN_FAULT says about a function, several divided by commas:
///   hipMalloc              every call fails with hipErrorNotSupported
///   hipMalloc:3            the third call fails
///   hipMalloc:3=hipErrorOutOfMemory
///   missing:hipMalloc      dlsym() does not find it
///   hang:hipModuleLaunchKernel:2   the second launch never ends
///   elsewhere:hipMemAddressReserve:1   the address asked for is not granted
enum class FaultKind { Fail, Missing, Hang, Elsewhere };

struct Fault {
  FaultKind kind = FaultKind::Fail;
  int status = kNotSupported;
};

/// Whether the environment says anything about this function.
bool hasFaults(const char* function) noexcept;
/// Counts a call; the fault it has to have, or null.
const Fault* faultOfCall(const char* function) noexcept;
/// Of the calling thread's call of an entry.
bool isElsewhere() noexcept;
/// Calls `act` with every function that is to be missing.
void visitMissing(void (*act)(const char* function)) noexcept;

/// From here on the device answers nothing.
void hang() noexcept;
/// What takes the place of a function on a device that hangs; null: it works as before.
void* whileHanging(const char* function) noexcept;
bool canHang() noexcept;

/// Has every entry call a function that returns `status`.
void* failureWith(int status) noexcept;

} // namespace mneme::stand_in

/// A function of this folder in place of the runtime's own.
#define MNEME_STAND_IN(name) extern "C" [[gnu::visibility("hidden")]] int own_##name
