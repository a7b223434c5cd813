// Device attributes and properties of the HIP API.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/heap.h"
#include "runtime/emulator/runtimes/core/host_device.h"
#include "runtime/emulator/runtimes/core/own_calls.h"
#include "runtime/emulator/runtimes/hip/device_facts.h"
#include "runtime/emulator/runtimes/hip/device_properties.h"

using namespace mneme::cpu_runtime;
using namespace mneme::cpu_runtime::hip;

namespace {

// hipDeviceArch_t: atomics, doubles, votes, ballots, shuffles, fences, three-dimensional grids.
constexpr unsigned kArchFeatures = 0x97ff;
constexpr int kMultiprocessors = 63, kPhysicalMultiprocessors = 10015, kTotalMemory = 84;
constexpr int kMajor = 23, kMinor = 61, kWaveSize = 87;

struct AttributeValue {
  int id;
  int value;
};

// Attributes that are not listed are 0 (textures, surfaces, ECC, inter-process features, ...).
constexpr AttributeValue kAttributes[] = {
    {2, 1}, // copy engines
    {3, 1}, // maps host memory
    {4, 1}, // host pointers are device pointers
    {5, kClockKilohertz},
    {8, 1},  // concurrent kernels
    {9, 1},  // concurrent managed access
    {10, 1}, // cooperative launch
    {12, 1}, // copies overlap with kernels
    {13, 1}, // the host reads managed memory
    {15, 1}, // host atomics work on device memory
    {19, kL2Bytes},
    {24, 1}, // managed memory
    {25, kBlocksPerMultiprocessor},
    {26, kMaxBlockDim},
    {27, kMaxBlockDim},
    {28, kMaxBlockDim},
    {29, kMaxGridDim[0]},
    {30, kMaxGridDim[1]},
    {31, kMaxGridDim[2]},
    {55, kMaxBlockDim},
    {56, mneme::cpu_runtime::hip::kMaxThreadsPerBlock},
    {57, kThreadsPerMultiprocessor},
    {58, kMaxPitch},
    {59, kMemoryBusWidth},
    {60, kMemoryClockKilohertz},
    {71, kRegisters},
    {72, kRegisters},
    {74, static_cast<int>(kSharedPerBlock)},
    {75, static_cast<int>(kSharedPerBlock)},
    {76, static_cast<int>(kSharedPerBlock)},
    {77, 1}, // double precision at the speed of single precision
    {78, 1}, // stream priorities
    {79, kTextureAlignment},
    {81, kTextureAlignment},
    {82, kTextureAlignment},
    {83, kConstantBytes},
    {85, 1}, // unified addressing
    {88, 1}, // memory pools
    {10000, kTimerKilohertz},
    {10002, static_cast<int>(kSharedPerBlock)},
    {10011, 1}, // the host reads device memory
    {10016, 1}, // fine-grained memory
};

int attribute(int id) {
  if (id == kMultiprocessors || id == kPhysicalMultiprocessors)
    return multiprocessorCount();
  if (id == kTotalMemory)
    return static_cast<int>(std::min<size_t>(Heap::instance().totalBytes(), 2147483647));
  if (id == kMajor)
    return arch().major;
  if (id == kMinor)
    return arch().minor;
  if (id == kWaveSize)
    return arch().waveSize;
  for (const AttributeValue& entry : kAttributes)
    if (entry.id == id)
      return entry.value;
  return 0;
}

template <typename Properties> void fillCommon(Properties& p) {
  std::memset(static_cast<void*>(&p), 0, sizeof p);
  std::strncpy(p.name, deviceName().c_str(), sizeof p.name - 1);
  std::snprintf(p.gcnArchName, sizeof p.gcnArchName, "%s", arch().name.c_str());
  p.totalGlobalMem = Heap::instance().totalBytes();
  p.sharedMemPerBlock = p.maxSharedMemoryPerMultiProcessor = kSharedPerBlock;
  p.regsPerBlock = kRegisters;
  p.warpSize = arch().waveSize;
  p.maxThreadsPerBlock = mneme::cpu_runtime::hip::kMaxThreadsPerBlock;
  std::fill_n(p.maxThreadsDim, 3, kMaxBlockDim);
  std::copy_n(kMaxGridDim, 3, p.maxGridSize);
  p.clockRate = kClockKilohertz;
  p.memoryClockRate = kMemoryClockKilohertz;
  p.clockInstructionRate = kTimerKilohertz;
  p.memoryBusWidth = kMemoryBusWidth;
  p.totalConstMem = kConstantBytes;
  p.major = arch().major;
  p.minor = arch().minor;
  p.multiProcessorCount = multiprocessorCount();
  p.l2CacheSize = kL2Bytes;
  p.maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  p.arch = kArchFeatures;
  p.memPitch = kMaxPitch;
  p.textureAlignment = p.texturePitchAlignment = kTextureAlignment;
  p.concurrentKernels = p.canMapHostMemory = p.cooperativeLaunch = p.isLargeBar = 1;
  p.managedMemory = p.directManagedMemAccessFromHost = p.concurrentManagedAccess = 1;
}

template <typename Properties, typename More>
Status fill(Properties* properties, int device, More&& more) {
  return always([&] {
    if (!properties)
      return Status::InvalidValue;
    if (device != 0)
      return Status::InvalidDevice;
    fillCommon(*properties);
    more(*properties);
    return Status::Success;
  });
}

} // namespace

MNEME_RUNTIME_API Status hipGetDevicePropertiesR0000(DeviceProp0000* properties, int device) {
  return fill(properties, device, [](DeviceProp0000& p) {
    p.gcnArch = p.major * 100 + p.minor * 10 + arch().stepping;
  });
}

MNEME_RUNTIME_API Status hipGetDevicePropertiesR0600(DeviceProp0600* properties, int device) {
  return fill(properties, device, [](DeviceProp0600& p) {
    std::memcpy(p.uuid, "mneme-cpu-device", sizeof p.uuid);
    p.regsPerMultiprocessor = kRegisters;
    p.sharedMemPerMultiprocessor = p.sharedMemPerBlockOptin = kSharedPerBlock;
    p.maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
    p.surfaceAlignment = kTextureAlignment;
    p.asyncEngineCount = p.unifiedAddressing = p.deviceOverlap = 1;
    p.streamPrioritiesSupported = p.hostNativeAtomicSupported = p.memoryPoolsSupported = 1;
    p.canUseHostPointerForRegisteredMem = p.hostRegisterSupported = 1;
    p.singleToDoublePrecisionPerfRatio = 1;
  });
}

MNEME_RUNTIME_API Status hipDeviceGetAttribute(int* value, int id, int device) {
  return always([&] {
    if (!value || id < 0)
      return Status::InvalidValue;
    if (device != 0)
      return Status::InvalidDevice;
    *value = attribute(id);
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status hipDeviceGetName(char* name, int length, int device) {
  return always([&] {
    if (!name || length <= 0)
      return Status::InvalidValue;
    if (device != 0)
      return Status::InvalidDevice;
    std::snprintf(name, static_cast<size_t>(length), "%s", deviceName().c_str());
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status hipDeviceGetUuid(char (*uuid)[16], int device) {
  return always([&] {
    if (!uuid)
      return Status::InvalidValue;
    if (device != 0)
      return Status::InvalidDevice;
    std::memcpy(*uuid, "mneme-cpu-device", sizeof *uuid);
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status hipDeviceTotalMem(size_t* bytes, int device) {
  return always([&] {
    if (!bytes)
      return Status::InvalidValue;
    if (device != 0)
      return Status::InvalidDevice;
    *bytes = Heap::instance().totalBytes();
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status hipDeviceComputeCapability(int* major, int* minor, int device) {
  return always([&] {
    if (!major || !minor)
      return Status::InvalidValue;
    if (device != 0)
      return Status::InvalidDevice;
    *major = arch().major;
    *minor = arch().minor;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status hipDeviceGet(int* device, int ordinal) {
  return always([&] {
    if (!device)
      return Status::InvalidValue;
    *device = 0;
    return ordinal == 0 ? Status::Success : Status::InvalidDevice;
  });
}

MNEME_RUNTIME_API Status hipInit(unsigned flags) {
  return always([&] { return flags == 0 ? Status::Success : Status::InvalidValue; });
}

MNEME_RUNTIME_API int hipGetStreamDeviceId(void*) { return 0; }
