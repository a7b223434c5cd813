// Room cpu_runtime: status codes, the error state of threads and device, and the wrapper that
// every function of the C API goes through. No exception leaves it but the end of a thread.
#pragma once

#include <exception>
#include <new>

#include <cxxabi.h>

#include "runtime/base/cancellation.h"
#include "runtime/base/error.h"

namespace mneme::cpu_runtime {

/// The codes these runtimes return; vendors have the same numbers. Their names and sentences are
/// the vendor's.
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

/// The calling thread's last error; `takeLastError` resets it.
Status lastError() noexcept;
Status takeLastError() noexcept;
/// Makes a failure the thread's last error and returns it unchanged.
Status remember(Status status) noexcept;
/// From here on a call that succeeds leaves no error of an earlier one to be asked for.
void forgetErrorsAtSuccess() noexcept;

/// A kernel ended early. The first fault counts; it surfaces at the next synchronising call.
void reportFault(Status fault) noexcept;
/// True from the fault on: later launches do not run, as on a device whose context is broken.
bool isFaulted() noexcept;
/// Surfaces a waiting fault. From then on every call of the API returns it until clearFault().
Status synchronise() noexcept;
/// The surfaced fault, or Success.
Status surfacedFault() noexcept;
void clearFault() noexcept;

/// Turns an exception of our own rooms into a code, and logs its sentence.
Status statusOf(const std::exception& failure) noexcept;

/// Runs `body` (returning Status) whatever the state of the device is. A thread is not cancelled in
/// it; one that ends itself, in a function of the application that is called back, is let go.
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

/// Runs `body` unless a fault has surfaced.
template <typename Body> Status api(Body&& body) {
  if (const Status fault = surfacedFault(); fault != Status::Success)
    return remember(fault);
  return always(body);
}

/// Like api(), for calls at which vendors report the faults of earlier kernels.
template <typename Body> Status synchronising(Body&& body) {
  if (const Status fault = synchronise(); fault != Status::Success)
    return remember(fault);
  return always(body);
}

} // namespace mneme::cpu_runtime
