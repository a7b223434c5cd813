// Contexts of the HIP API. There is one device with one context, which is always current.
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/own_calls.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr int kInvalidContext = 201;

void* theContext() {
  static char context;
  return &context;
}

Status give(void** context, int device) {
  if (!context)
    return Status::InvalidValue;
  if (device != 0)
    return Status::InvalidDevice;
  *context = theContext();
  return Status::Success;
}

/// Null is not a context, which a program may make current to leave the one it is in.
Status check(const void* context) {
  return !context || context == theContext() ? Status::Success
                                             : static_cast<Status>(kInvalidContext);
}

Status checkDevice(int device) { return device == 0 ? Status::Success : Status::InvalidDevice; }

} // namespace

MNEME_RUNTIME_API Status hipCtxCreate(void** context, unsigned, int device) {
  return always([&] { return give(context, device); });
}

MNEME_RUNTIME_API Status hipCtxDestroy(void* context) {
  return always([&] { return context ? check(context) : Status::InvalidValue; });
}

MNEME_RUNTIME_API Status hipCtxGetCurrent(void** context) {
  return always([&] { return give(context, 0); });
}

MNEME_RUNTIME_API Status hipCtxSetCurrent(void* context) {
  return always([&] { return check(context); });
}

MNEME_RUNTIME_API Status hipCtxPushCurrent(void* context) {
  return always([&] { return check(context); });
}

MNEME_RUNTIME_API Status hipCtxPopCurrent(void** context) {
  return always([&] { return context ? give(context, 0) : Status::Success; });
}

MNEME_RUNTIME_API Status hipCtxGetDevice(int* device) {
  return always([&] {
    if (!device)
      return Status::InvalidValue;
    *device = 0;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status hipDevicePrimaryCtxRetain(void** context, int device) {
  return always([&] { return give(context, device); });
}

MNEME_RUNTIME_API Status hipDevicePrimaryCtxRelease(int device) {
  return always([&] { return checkDevice(device); });
}

MNEME_RUNTIME_API Status hipDevicePrimaryCtxGetState(int device, unsigned* flags, int* isActive) {
  return always([&] {
    if (flags)
      *flags = 0;
    if (isActive)
      *isActive = 1;
    return checkDevice(device);
  });
}
