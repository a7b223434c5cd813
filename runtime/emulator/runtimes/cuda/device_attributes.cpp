// Device attributes and properties of the CUDA Runtime API.
#include <algorithm>
#include <cstring>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/host_device.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/cuda/device_facts.h"
#include "runtime/emulator/runtimes/cuda/device_properties.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr int kMaxPitch = 2147483647;
constexpr int kRegisters = 65536;
constexpr int kConstantBytes = 65536;
constexpr int kTextureAlignment = 512;
constexpr int kClockKilohertz = 1980000;
constexpr int kMemoryClockKilohertz = 2619000;
constexpr int kMemoryBusWidth = 5120;
constexpr int kL2Bytes = 50 * 1024 * 1024;
constexpr int kLastAttribute = 147;

struct AttributeValue {
  int id;
  int value;
};

// Attributes that are not listed are 0 (textures, surfaces, ECC, inter-process features, ...). So
// is access to pageable memory: kernels can use it here, but no recording would have it.
constexpr AttributeValue kAttributes[] = {
    {1, kMaxThreadsPerBlock},
    {2, kMaxBlockDim[0]},
    {3, kMaxBlockDim[1]},
    {4, kMaxBlockDim[2]},
    {5, kMaxGridDim[0]},
    {6, kMaxGridDim[1]},
    {7, kMaxGridDim[2]},
    {8, static_cast<int>(kSharedPerBlock)},
    {9, kConstantBytes},
    {10, kWarpSize},
    {11, kMaxPitch},
    {12, kRegisters},
    {13, kClockKilohertz},
    {14, kTextureAlignment},
    {15, 1}, // copies overlap with kernels
    {19, 1}, // maps host memory
    {30, kTextureAlignment},
    {31, 1}, // concurrent kernels
    {36, kMemoryClockKilohertz},
    {37, kMemoryBusWidth},
    {38, kL2Bytes},
    {39, kThreadsPerMultiprocessor},
    {40, 1}, // copy engines
    {41, 1}, // unified addressing
    {51, 32},
    {75, 9}, // compute capability
    {76, 0},
    {78, 1}, // stream priorities
    {79, 1}, // L1 caches globals
    {80, 1}, // L1 caches locals
    {81, static_cast<int>(kSharedPerMultiprocessor)},
    {82, kRegisters},
    {83, 1}, // managed memory
    {86, 1}, // host atomics work on device memory
    {87, 2},
    {89, 1}, // concurrent managed access
    {90, 1},
    {91, 1}, // host pointers are device pointers
    {95, 1}, // cooperative launch
    {97, static_cast<int>(kSharedPerBlockOptin)},
    {99, 1}, // host registration
    {101, 1},
    {106, kBlocksPerMultiprocessor},
    {111, static_cast<int>(kReservedSharedPerBlock)},
    {113, 1},
    {115, 1}, // memory pools
    {120, 1}, // clusters
    {130, 0},
    {131, -1},
    {134, -1},
};

int attribute(int id) {
  if (id == 16)
    return multiprocessorCount();
  for (const AttributeValue& entry : kAttributes)
    if (entry.id == id)
      return entry.value;
  return 0;
}

template <typename Properties> void fillCommon(Properties& p) {
  std::memset(&p, 0, sizeof p);
  std::strncpy(p.name, deviceName().c_str(), sizeof p.name - 1);
  std::memcpy(p.uuid, "mneme-cpu-device", sizeof p.uuid);
  p.totalGlobalMem = Heap::instance().totalBytes();
  p.sharedMemPerBlock = kSharedPerBlock;
  p.regsPerBlock = p.regsPerMultiprocessor = kRegisters;
  p.warpSize = kWarpSize;
  p.memPitch = kMaxPitch;
  p.maxThreadsPerBlock = kMaxThreadsPerBlock;
  std::copy_n(kMaxBlockDim, 3, p.maxThreadsDim);
  std::copy_n(kMaxGridDim, 3, p.maxGridSize);
  p.totalConstMem = kConstantBytes;
  p.major = attribute(75);
  p.minor = attribute(76);
  p.textureAlignment = p.surfaceAlignment = kTextureAlignment;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = multiprocessorCount();
  p.memoryBusWidth = kMemoryBusWidth;
  p.l2CacheSize = kL2Bytes;
  p.maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  p.sharedMemPerMultiprocessor = kSharedPerMultiprocessor;
  p.sharedMemPerBlockOptin = kSharedPerBlockOptin;
  p.maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
  p.reservedSharedMemPerBlock = kReservedSharedPerBlock;
  p.asyncEngineCount = 1;
  p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = 1;
  p.streamPrioritiesSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.managedMemory = p.hostNativeAtomicSupported = 1;
  p.concurrentManagedAccess = p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = p.cooperativeLaunch = p.clusterLaunch = 1;
  p.directManagedMemAccessFromHost = 1;
  p.hostRegisterSupported = p.hostRegisterReadOnlySupported = p.memoryPoolsSupported = 1;
}

template <typename Properties, typename More>
Status fill(Properties* properties, int device, More&& more) {
  if (!properties)
    return Status::InvalidValue;
  if (device != 0)
    return Status::InvalidDevice;
  fillCommon(*properties);
  more(*properties);
  return Status::Success;
}

} // namespace

MNEME_RUNTIME_API Status cudaGetDeviceProperties(DeviceProp13* properties, int device) {
  return always([&] {
    return fill(properties, device, [](DeviceProp13& p) { p.deviceNumaId = p.hostNumaId = -1; });
  });
}

MNEME_RUNTIME_API Status cudaGetDeviceProperties_v2(DeviceProp12* properties, int device) {
  return always([&] {
    return fill(properties, device, [](DeviceProp12& p) {
      p.clockRate = kClockKilohertz;
      p.memoryClockRate = kMemoryClockKilohertz;
      p.singleToDoublePrecisionPerfRatio = attribute(87);
      p.deviceOverlap = 1;
    });
  });
}

MNEME_RUNTIME_API Status cudaDeviceGetAttribute(int* value, int id, int device) {
  return always([&] {
    if (!value || id < 1 || id > kLastAttribute)
      return Status::InvalidValue;
    if (device != 0)
      return Status::InvalidDevice;
    *value = attribute(id);
    return Status::Success;
  });
}
