// Device management: one device, number 0.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/kernels.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/types.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr const char* kPciBusId = "0000:00:00.0";

// Stack size, printf buffer, malloc heap, device-runtime depth and pending launches, L2 fetch
// granularity, persisting L2: numbered 0 to 6 by the API.
std::array<std::atomic<size_t>, 7> limits = {1024, 1048576, 8388608, 2, 2048, 64, 0};
std::atomic<unsigned> deviceFlags{8}; // host memory can be mapped
std::atomic<int> cacheConfig{0};

Status checkDevice(int device) { return device == 0 ? Status::Success : Status::InvalidDevice; }

template <typename Value> Status give(Value* out, Value value) {
  if (!out)
    return Status::InvalidValue;
  *out = value;
  return Status::Success;
}

} // namespace

MNEME_RUNTIME_API Status gpuGetDeviceCount(int* count) {
  return always([&] { return give(count, 1); });
}

MNEME_RUNTIME_API Status gpuGetDevice(int* device) {
  return always([&] { return give(device, 0); });
}

MNEME_RUNTIME_API Status gpuSetDevice(int device) {
  return always([&] { return checkDevice(device); });
}

MNEME_RUNTIME_API Status gpuInitDevice(int device, unsigned, unsigned) {
  return api([&] { return checkDevice(device); });
}

MNEME_RUNTIME_API Status gpuSetValidDevices(int* devices, int count) {
  return api([&] {
    for (int index = 0; devices && index < count; ++index)
      if (devices[index] != 0)
        return Status::InvalidDevice;
    return devices || count == 0 ? Status::Success : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuChooseDevice(int* device, const void* properties) {
  return api([&] { return properties ? give(device, 0) : Status::InvalidValue; });
}

MNEME_RUNTIME_API Status gpuSetDeviceFlags(unsigned flags) {
  return api([&] {
    deviceFlags = flags | 8u;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGetDeviceFlags(unsigned* flags) {
  return api([&] { return give(flags, deviceFlags.load()); });
}

MNEME_RUNTIME_API Status gpuDeviceSynchronize() {
  if (isAnyBusy() && mayCallUnsafe() == Status::Success)
    waitForDevice();
  return synchronising([] { return mayCallUnsafe(); });
}

/// Serves other libraries of ours: it waits even during a capture and leaves no last error.
MNEME_RUNTIME_API int mneme_cpu_synchronize() {
  if (isAnyBusy())
    waitForDevice();
  return static_cast<int>(synchronise());
}

/// Serves other libraries of ours: whether work goes on that mneme_cpu_synchronize() would wait
/// for.
MNEME_RUNTIME_API int mneme_cpu_is_busy() { return isAnyBusy(); }

MNEME_RUNTIME_API Status gpuDeviceReset() {
  if (isAnyBusy())
    waitForDevice();
  clearFault();
  takeLastError();
  return always([] {
    Heap::instance().releaseAll();
    resetGlobals();
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuDeviceSetLimit(int limit, size_t value) {
  return api([&] {
    if (limit < 0 || limit >= static_cast<int>(limits.size()))
      return Status::InvalidValue;
    limits[static_cast<size_t>(limit)] = value;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuDeviceGetLimit(size_t* value, int limit) {
  return api([&] {
    if (limit < 0 || limit >= static_cast<int>(limits.size()))
      return Status::InvalidValue;
    return give(value, limits[static_cast<size_t>(limit)].load());
  });
}

MNEME_RUNTIME_API Status gpuDeviceSetCacheConfig(int config) {
  return api([&] {
    cacheConfig = config;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuDeviceGetCacheConfig(int* config) {
  return api([&] { return give(config, cacheConfig.load()); });
}

MNEME_RUNTIME_API Status gpuDeviceSetSharedMemConfig(int) {
  return api([] { return Status::Success; });
}

MNEME_RUNTIME_API Status gpuDeviceGetSharedMemConfig(int* config) {
  return api([&] { return give(config, 1); });
}

MNEME_RUNTIME_API Status gpuCtxResetPersistingL2Cache() {
  return api([] { return Status::Success; });
}

MNEME_RUNTIME_API Status gpuDeviceGetPCIBusId(char* text, int length, int device) {
  return api([&] {
    if (!text || length <= static_cast<int>(std::strlen(kPciBusId)))
      return Status::InvalidValue;
    if (device != 0)
      return Status::InvalidDevice;
    std::snprintf(text, static_cast<size_t>(length), "%s", kPciBusId);
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuDeviceGetByPCIBusId(int* device, const char* text) {
  return api([&] {
    if (!device || !text)
      return Status::InvalidValue;
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    const bool isOurs = (std::sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) >= 3 ||
                         std::sscanf(text, "%x:%x.%x", &bus, &slot, &function) >= 2) &&
                        (domain | bus | slot | function) == 0;
    return isOurs ? give(device, 0) : Status::InvalidDevice;
  });
}

MNEME_RUNTIME_API Status gpuDeviceCanAccessPeer(int* canAccess, int device, int peer) {
  return api([&] { return device == 0 && peer == 0 ? give(canAccess, 0) : Status::InvalidDevice; });
}

MNEME_RUNTIME_API Status gpuDeviceEnablePeerAccess(int peer, unsigned) {
  return api([&] { return peer == 0 ? Status::PeerAccessUnsupported : Status::InvalidDevice; });
}

MNEME_RUNTIME_API Status gpuDeviceDisablePeerAccess(int peer) {
  return api([&] { return peer == 0 ? Status::PeerAccessNotEnabled : Status::InvalidDevice; });
}

MNEME_RUNTIME_API Status gpuDeviceGetP2PAttribute(int* value, int, int source, int destination) {
  return api(
      [&] { return source == 0 && destination == 0 ? Status::InvalidDevice : give(value, 0); });
}

MNEME_RUNTIME_API Status gpuRuntimeGetVersion(int* version) {
  return always([&] { return give(version, runtimeVersion()); });
}

MNEME_RUNTIME_API Status gpuDriverGetVersion(int* version) {
  return always([&] { return give(version, runtimeVersion()); });
}

MNEME_RUNTIME_API Status gpuProfilerStart() {
  return api([] { return Status::Success; });
}

MNEME_RUNTIME_API Status gpuProfilerStop() {
  return api([] { return Status::Success; });
}

MNEME_RUNTIME_API ChannelFormatDesc gpuCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}
