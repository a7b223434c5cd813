// Room emulator/runtimes: several devices of the stand-in, which are all the one there is: what is
// current in a thread, where streams are, and launches on each of several.
#include <cstdlib>
#include <map>
#include <mutex>

#include "runtime/core/base/environment.h"
#include "runtime/emulator/runtimes/core/types.h"
#include "tests/hip_stand_in/stand_in.h"

using namespace mneme::stand_in;
using mneme::cpu_runtime::DeviceLaunch;
using mneme::cpu_runtime::Dim3;
using mneme::cpu_runtime::DriverDeviceLaunch;

namespace {

constexpr int kHip7 = 70000000;

thread_local int current = 0;

struct Streams {
  std::mutex mutex;
  std::map<void*, int> devices;
};

Streams& streams() {
  static auto* const made = new Streams;
  return *made;
}

int deviceOf(void* stream) {
  const std::lock_guard lock(streams().mutex);
  const auto found = streams().devices.find(stream);
  return found == streams().devices.end() ? current : found->second;
}

template <typename... Args> int call(const char* function, Args... args) {
  const auto found = next<int (*)(Args...)>(function);
  return found ? found(args...) : kNotSupported;
}

template <typename... Args> int create(const char* function, void** stream, Args... args) {
  const int status = call(function, stream, args...);
  if (status == kSuccess) {
    const std::lock_guard lock(streams().mutex);
    streams().devices[*stream] = current;
  }
  return status;
}

bool areAlike(const Dim3& one, const Dim3& other) {
  return one.x == other.x && one.y == other.y && one.z == other.z;
}

/// What HIP says of several launches as a whole (hipamd's hip_module.cpp).
template <typename Launch> int statusOf(const Launch* launches, int count) {
  for (int index = 0; index < count; ++index) {
    const Launch &one = launches[index], &first = launches[0];
    if (!one.stream)
      return kInvalidHandle;
    for (int before = 0; before < index; ++before)
      if (deviceOf(launches[before].stream) == deviceOf(one.stream))
        return kInvalidDevice;
    if (versionAskedFor() >= kHip7 &&
        (one.function != first.function || !areAlike(one.gridDim, first.gridDim) ||
         !areAlike(one.blockDim, first.blockDim) || one.sharedBytes != first.sharedBytes))
      return kInvalidValue;
  }
  return kSuccess;
}

template <typename Launch, typename Count>
int launch(const char* function, const Launch* launches, Count count, unsigned flags) {
  const int several = static_cast<int>(count);
  if (!launches || several < 2 || several > deviceCount())
    return call(function, launches, count, flags);
  int status = statusOf(launches, several);
  for (int index = 0; index < several && status == kSuccess; ++index)
    status = call(function, launches + index, Count{1}, flags);
  return status;
}

} // namespace

int mneme::stand_in::deviceCount() noexcept {
  static const int count = [] {
    const char* said = environmentValue("MNEME_STAND_IN_DEVICES");
    return said && std::atoi(said) > 1 ? std::atoi(said) : 1;
  }();
  return count;
}

MNEME_STAND_IN(hipGetDeviceCount)(int* count) {
  const int status = call("hipGetDeviceCount", count);
  if (status == kSuccess)
    *count = deviceCount();
  return status;
}

MNEME_STAND_IN(hipGetDevice)(int* device) {
  const int status = call("hipGetDevice", device);
  if (status == kSuccess)
    *device = current;
  return status;
}

MNEME_STAND_IN(hipSetDevice)(int device) {
  const int status = call("hipSetDevice", numberOf(device));
  if (status == kSuccess)
    current = device;
  return status;
}

MNEME_STAND_IN(hipDeviceTotalMem)(size_t* bytes, int device) {
  return call("hipDeviceTotalMem", bytes, numberOf(device));
}

MNEME_STAND_IN(hipDeviceCanAccessPeer)(int* canAccess, int device, int peer) {
  return call("hipDeviceCanAccessPeer", canAccess, numberOf(device), numberOf(peer));
}

MNEME_STAND_IN(hipStreamCreate)(void** stream) { return create("hipStreamCreate", stream); }

MNEME_STAND_IN(hipStreamCreateWithFlags)(void** stream, unsigned flags) {
  return create("hipStreamCreateWithFlags", stream, flags);
}

MNEME_STAND_IN(hipStreamCreateWithPriority)(void** stream, unsigned flags, int priority) {
  return create("hipStreamCreateWithPriority", stream, flags, priority);
}

MNEME_STAND_IN(hipStreamDestroy)(void* stream) {
  {
    const std::lock_guard lock(streams().mutex);
    streams().devices.erase(stream);
  }
  return call("hipStreamDestroy", stream);
}

MNEME_STAND_IN(hipStreamGetDevice)(void* stream, int* device) {
  const int status = call("hipStreamGetDevice", stream, device);
  if (status == kSuccess)
    *device = deviceOf(stream);
  return status;
}

MNEME_STAND_IN(hipGetStreamDeviceId)(void* stream) { return deviceOf(stream); }

MNEME_STAND_IN(hipLaunchCooperativeKernelMultiDevice)(const DeviceLaunch* launches, int count,
                                                      unsigned flags) {
  return launch("hipLaunchCooperativeKernelMultiDevice", launches, count, flags);
}

MNEME_STAND_IN(hipExtLaunchMultiKernelMultiDevice)(const DeviceLaunch* launches, int count,
                                                   unsigned flags) {
  return launch("hipExtLaunchMultiKernelMultiDevice", launches, count, flags);
}

MNEME_STAND_IN(hipModuleLaunchCooperativeKernelMultiDevice)(const DriverDeviceLaunch* launches,
                                                            unsigned count, unsigned flags) {
  return launch("hipModuleLaunchCooperativeKernelMultiDevice", launches, count, flags);
}
