// The device of the CUDA driver API, its versions, and the mark by which mneme knows this library.
#include <array>
#include <cstring>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/cuda_driver/forward.h"

using namespace mneme::cpu_runtime::cuda_driver;

namespace {

constexpr size_t kNameBytes = 256, kUuidBytes = 16;
constexpr int kLastAttribute = 160; // what later releases of CUDA ask for is not there

/// cudaDeviceProp of every version begins so.
struct Properties {
  char name[kNameBytes];
  char uuid[kUuidBytes];
};

int readProperties(int device, Properties& properties) {
  alignas(16) std::array<char, 4096> whole;
  const int status = forward<"cudaGetDeviceProperties">(static_cast<void*>(whole.data()), device);
  std::memcpy(&properties, whole.data(), sizeof properties);
  return status;
}

} // namespace

/// A libcuda.so.1 with this symbol is this driver, not NVIDIA's.
MNEME_RUNTIME_API int mneme_cuda_driver_on_cpu() { return 1; }

MNEME_RUNTIME_API int cuInit(unsigned flags) {
  return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

MNEME_RUNTIME_API int cuDriverGetVersion(int* version) {
  return forward<"cudaDriverGetVersion">(version);
}

MNEME_RUNTIME_API int cuDeviceGetCount(int* count) { return forward<"cudaGetDeviceCount">(count); }

MNEME_RUNTIME_API int cuDeviceGet(int* device, int ordinal) {
  const int bad = checkDevice(ordinal);
  return bad == CUDA_SUCCESS ? give(device, 0) : bad;
}

MNEME_RUNTIME_API int cuDeviceGetName(char* name, int bytes, int device) {
  Properties properties;
  if (!name || bytes <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  const int status = readProperties(device, properties);
  if (status == CUDA_SUCCESS) {
    std::strncpy(name, properties.name, static_cast<size_t>(bytes));
    name[bytes - 1] = 0;
  }
  return status;
}

MNEME_RUNTIME_API int cuDeviceGetUuid_v2(void* uuid, int device) {
  Properties properties;
  if (!uuid)
    return CUDA_ERROR_INVALID_VALUE;
  const int status = readProperties(device, properties);
  if (status == CUDA_SUCCESS)
    std::memcpy(uuid, properties.uuid, kUuidBytes);
  return status;
}

MNEME_RUNTIME_API int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  if (const int bad = checkDevice(device); bad != CUDA_SUCCESS)
    return bad;
  size_t freeBytes = 0;
  return forward<"cudaMemGetInfo">(&freeBytes, bytes);
}

/// The driver has attributes that the runtime has no name for: they are 0 here.
MNEME_RUNTIME_API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  const int status = forward<"cudaDeviceGetAttribute">(value, attribute, device);
  const bool isDrivers = value && device == 0 && attribute > 0 && attribute <= kLastAttribute;
  return status != CUDA_SUCCESS && isDrivers ? give(value, 0) : status;
}

MNEME_RUNTIME_API int cuDeviceComputeCapability(int* major, int* minor, int device) {
  const int status = cuDeviceGetAttribute(major, 75, device);
  return status == CUDA_SUCCESS ? cuDeviceGetAttribute(minor, 76, device) : status;
}

MNEME_RUNTIME_API int cuDeviceGetPCIBusId(char* text, int bytes, int device) {
  return forward<"cudaDeviceGetPCIBusId">(text, bytes, device);
}

MNEME_RUNTIME_API int cuDeviceGetByPCIBusId(int* device, const char* text) {
  return forward<"cudaDeviceGetByPCIBusId">(device, text);
}

MNEME_RUNTIME_API int cuDeviceCanAccessPeer(int* canAccess, int device, int peer) {
  return forward<"cudaDeviceCanAccessPeer">(canAccess, device, peer);
}

MNEME_RUNTIME_API int cuProfilerStart() { return CUDA_SUCCESS; }
MNEME_RUNTIME_API int cuProfilerStop() { return CUDA_SUCCESS; }
