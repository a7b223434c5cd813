// NVIDIA's management library on the CPU device: what programs print about their GPU. All else is
// in unsupported.txt. What CUDA knows is asked of the runtime that is preloaded beside this.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <dlfcn.h>

#include "runtime/core/base/log.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/unsupported.h"

namespace {

enum Result : int {
  Success = 0,
  InvalidArgument = 2,
  NotSupported = 3,
  NotFound = 6,
  InsufficientSize = 7
};

constexpr int kClockRate = 13, kMemoryClockRate = 36; // attributes of CUDA's devices, in kHz
constexpr int kMajor = 75, kMinor = 76;
constexpr unsigned kMemoryClock = 2, kClocks = 4;

struct MemoryInfo {
  unsigned long long total, free, used;
};

/// The one device; its address is the handle.
int theDevice;

bool isDevice(const void* device) { return device == &theDevice; }

/// A function of CUDA's runtime on the CPU device.
template <typename... Arguments> int callRuntime(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(RTLD_DEFAULT, name));
  return function ? function(arguments...) : -1;
}

int attribute(int which) {
  int value = 0;
  callRuntime("cudaDeviceGetAttribute", &value, which, 0);
  return value;
}

int give(char* text, unsigned bytes, const std::string& value) {
  if (!text)
    return InvalidArgument;
  if (bytes <= value.size())
    return InsufficientSize;
  std::memcpy(text, value.c_str(), value.size() + 1);
  return Success;
}

template <typename Value> int give(Value* place, Value value) {
  if (!place)
    return InvalidArgument;
  *place = value;
  return Success;
}

int giveDevice(void** device, bool isThere) {
  return !device   ? InvalidArgument
         : isThere ? give(device, static_cast<void*>(&theDevice))
                   : NotFound;
}

int giveClock(const void* device, unsigned type, unsigned* megahertz) {
  if (!isDevice(device) || type >= kClocks)
    return InvalidArgument;
  const int rate = attribute(type == kMemoryClock ? kMemoryClockRate : kClockRate);
  return give(megahertz, static_cast<unsigned>(rate / 1000));
}

} // namespace

int mneme::cpu_runtime::unsupported(const char* name) noexcept {
  try {
    noticeOnce(std::string(name) + " is not supported on the CPU device");
  } catch (...) { // no memory for the message
  }
  return NotSupported;
}

MNEME_RUNTIME_API int nvmlInit() { return Success; }
MNEME_RUNTIME_API int nvmlInit_v2() { return Success; }
MNEME_RUNTIME_API int nvmlInitWithFlags(unsigned) { return Success; }
MNEME_RUNTIME_API int nvmlShutdown() { return Success; }

MNEME_RUNTIME_API const char* nvmlErrorString(int result) {
  switch (result) {
  case Success:
    return "The operation was successful";
  case InvalidArgument:
    return "A supplied argument was invalid";
  case NotFound:
    return "A query to find an object was unsuccessful";
  case InsufficientSize:
    return "An input argument is not large enough";
  default:
    return "Not Supported on the CPU device";
  }
}

MNEME_RUNTIME_API int nvmlSystemGetCudaDriverVersion(int* version) {
  return version && callRuntime("cudaDriverGetVersion", version) == 0 ? Success : InvalidArgument;
}
MNEME_RUNTIME_API int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

MNEME_RUNTIME_API int nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  return give(text, bytes, "0.0 (CPU device)");
}
MNEME_RUNTIME_API int nvmlSystemGetNVMLVersion(char* text, unsigned bytes) {
  return nvmlSystemGetDriverVersion(text, bytes);
}

MNEME_RUNTIME_API int nvmlDeviceGetCount(unsigned* count) { return give(count, 1U); }
MNEME_RUNTIME_API int nvmlDeviceGetCount_v2(unsigned* count) { return give(count, 1U); }

MNEME_RUNTIME_API int nvmlDeviceGetHandleByIndex(unsigned index, void** device) {
  return giveDevice(device, index == 0);
}
MNEME_RUNTIME_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  return giveDevice(device, index == 0);
}

/// CUDA says whether an address of the bus is the device's.
MNEME_RUNTIME_API int nvmlDeviceGetHandleByPciBusId(const char* address, void** device) {
  int found = 0;
  return giveDevice(device,
                    address && callRuntime("cudaDeviceGetByPCIBusId", &found, address) == 0);
}
MNEME_RUNTIME_API int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  return nvmlDeviceGetHandleByPciBusId(address, device);
}

MNEME_RUNTIME_API int nvmlDeviceGetIndex(void* device, unsigned* index) {
  return isDevice(device) ? give(index, 0U) : InvalidArgument;
}

MNEME_RUNTIME_API int nvmlDeviceGetName(void* device, char* name, unsigned bytes) {
  // cudaDeviceProp of every version begins with the name.
  alignas(16) std::array<char, 4096> properties{};
  const bool isKnown =
      callRuntime("cudaGetDeviceProperties", static_cast<void*>(properties.data()), 0) == 0;
  return isDevice(device) && isKnown ? give(name, bytes, properties.data()) : InvalidArgument;
}

MNEME_RUNTIME_API int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  if (!isDevice(device) || !major || !minor)
    return InvalidArgument;
  *major = attribute(kMajor);
  *minor = attribute(kMinor);
  return Success;
}

MNEME_RUNTIME_API int nvmlDeviceGetMemoryInfo(void* device, MemoryInfo* info) {
  size_t free = 0, total = 0;
  if (!isDevice(device) || !info || callRuntime("cudaMemGetInfo", &free, &total) != 0)
    return InvalidArgument;
  *info = {total, free, total - std::min(free, total)};
  return Success;
}

MNEME_RUNTIME_API int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* megahertz) {
  return giveClock(device, type, megahertz);
}
MNEME_RUNTIME_API int nvmlDeviceGetMaxClockInfo(void* device, unsigned type, unsigned* megahertz) {
  return giveClock(device, type, megahertz);
}
