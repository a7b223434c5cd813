// Room emulator/runtimes: status codes, the error state of threads and the device, and the wrapper
// around every function of the C API. Exceptions do not leave the wrapper, except for the
// termination of a thread.
#pragma once

#include <exception>
#include <new>

#include <cxxabi.h>

#include "runtime/core/base/cancellation.h"
#include "runtime/core/base/error.h"

namespace mneme::cpu_runtime {

/// The codes that these runtimes return. The numbers are the same for all vendors; names and texts
/// are the vendor's.
enum class Status : int {
  Success = 0,
  InvalidValue = 1,
  MemoryAllocation = 2,
  InitializationError = 3,
  RuntimeUnloading = 4,
  InvalidConfiguration = 9,
  InvalidPitchValue = 12,
  InvalidSymbol = 13,
  InvalidMemcpyDirection = 21,
  InvalidDeviceFunction = 98,
  InvalidDevice = 101,
  NoKernelImageForDevice = 209,
  PeerAccessUnsupported = 217,
  OperatingSystem = 304,
  InvalidResourceHandle = 400,
  IllegalState = 401,
  SymbolNotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  PeerAccessNotEnabled = 705,
  Assert = 710,
  HostMemoryAlreadyRegistered = 712,
  HostMemoryNotRegistered = 713,
  HardwareStackError = 714,
  LaunchFailure = 719,
  CooperativeLaunchTooLarge = 720,
  NotPermitted = 800,
  NotSupported = 801,
  StreamCaptureUnsupported = 900,
  StreamCaptureInvalidated = 901,
  StreamCaptureMerge = 902,
  StreamCaptureUnmatched = 903,
  StreamCaptureUnjoined = 904,
  StreamCaptureIsolation = 905,
  StreamCaptureImplicit = 906,
  CapturedEvent = 907,
  StreamCaptureWrongThread = 908,
  GraphExecUpdateFailure = 910,
  InvalidClusterSize = 912,
  Unknown = 999,
};

/// Returns the calling thread's last error; `takeLastError` also resets it.
Status lastError() noexcept;
Status takeLastError() noexcept;
/// Makes a failure the thread's last error and returns it unchanged.
Status remember(Status status) noexcept;
/// From now on a successful call clears the error of earlier calls.
void forgetErrorsAtSuccess() noexcept;

/// Stores the fault of a kernel that ended early. Only the first fault is kept; the next
/// synchronising call returns it.
void reportFault(Status fault) noexcept;
/// Returns true after a fault. Later launches then do not run, as on a device whose context is
/// lost.
bool isFaulted() noexcept;
/// Returns a stored fault. From then on every call of the API returns it, until clearFault().
Status synchronise() noexcept;
/// Returns the fault if synchronise() has returned it, otherwise Success.
Status surfacedFault() noexcept;
void clearFault() noexcept;

/// Converts an exception of mneme to a code and logs its message.
Status statusOf(const std::exception& failure) noexcept;

/// Runs `body`, which returns a Status, in any state of the device. The thread cannot be cancelled
/// meanwhile, but may end itself in a callback of the application.
template <typename Body> Status always(Body&& body) {
  const DeferredCancellation deferred;
  try {
    return remember(body());
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return remember(Status::MemoryAllocation);
  } catch (const std::exception& failure) {
    return remember(statusOf(failure));
  } catch (...) {
    return remember(Status::Unknown);
  }
}

/// Runs `body` unless a fault has been returned.
template <typename Body> Status api(Body&& body) {
  if (const Status fault = surfacedFault(); fault != Status::Success)
    return remember(fault);
  return always(body);
}

/// Like api(), for calls that return the faults of earlier kernels.
template <typename Body> Status synchronising(Body&& body) {
  if (const Status fault = synchronise(); fault != Status::Success)
    return remember(fault);
  return always(body);
}

} // namespace mneme::cpu_runtime
