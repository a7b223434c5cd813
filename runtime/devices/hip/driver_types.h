// Room devices/hip: the types and constants of HIP that mneme uses, under HIP's own names. They are
// declared here because mneme builds without ROCm; tests/unit/device_hip compares values and
// layouts with HIP's headers of many versions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/devices/gpu/gpu_driver.h"

namespace mneme::device::hip {

using hipDeviceptr_t = void*;
using hipModule_t = gpu::ModuleHandle;
using hipFunction_t = gpu::FunctionHandle;
using hipStream_t = gpu::StreamHandle;
using hipEvent_t = gpu::EventHandle;
using hipMemGenericAllocationHandle_t = struct ihipMemGenericAllocationHandle*;

/// The codes that mneme handles specially; HIP may return others.
enum hipError_t : int {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorInvalidConfiguration = 9,
  hipErrorInsufficientDriver = 35,
  hipErrorNoDevice = 100,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorMapFailed = 205,
  hipErrorNoBinaryForGpu = 209,
  hipErrorECCNotCorrectable = 214,
  hipErrorInvalidKernelFile = 218,
  hipErrorInvalidSource = 300,
  hipErrorFileNotFound = 301,
  hipErrorSharedObjectSymbolNotFound = 302,
  hipErrorSharedObjectInitFailed = 303,
  hipErrorNotFound = 500,
  hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchTimeOut = 702,
  hipErrorContextIsDestroyed = 709,
  hipErrorAssert = 710,
  hipErrorLaunchFailure = 719,
  hipErrorCooperativeLaunchTooLarge = 720,
  hipErrorNotSupported = 801,
  hipErrorUnknown = 999,
};

enum hipDeviceAttribute_t : int {
  hipDeviceAttributeCooperativeLaunch = 10,
  hipDeviceAttributeL2CacheSize = 19,
  hipDeviceAttributeMaxBlockDimX = 26,
  hipDeviceAttributeMaxGridDimX = 29,
  hipDeviceAttributeMaxThreadsPerBlock = 56,
  hipDeviceAttributeMultiprocessorCount = 63,
  hipDeviceAttributePageableMemoryAccess = 65,
  hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
  hipDeviceAttributeWarpSize = 87,
  /// Since ROCm 5.3; 0 on Linux before 6.1.
  hipDeviceAttributeVirtualMemoryManagementSupported = 89,
};

enum hipFunction_attribute : int { HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0 };

enum hipMemLocationType : int { hipMemLocationTypeDevice = 1 };
enum hipMemAccessFlags : int { hipMemAccessFlagsProtReadWrite = 3 };
enum hipMemAllocationType : int { hipMemAllocationTypePinned = 1 };
enum hipMemAllocationHandleType : int { hipMemHandleTypeNone = 0 };
enum hipMemAllocationGranularity_flags : int { hipMemAllocationGranularityMinimum = 0 };

inline constexpr unsigned hipStreamNonBlocking = 1;
inline constexpr unsigned hipHostMallocPortable = 1;

struct hipMemLocation {
  hipMemLocationType type = hipMemLocationTypeDevice;
  int id = 0;
};

/// The layout since ROCm 5.3. ROCm 5.2 has another order, but cannot create such memory.
struct hipMemAllocationProp {
  hipMemAllocationType type = hipMemAllocationTypePinned;
  hipMemAllocationHandleType requestedHandleType = hipMemHandleTypeNone;
  hipMemLocation location;
  void* win32HandleMetaData = nullptr;
  struct {
    unsigned char compressionType = 0;
    unsigned char gpuDirectRDMACapable = 0;
    unsigned short usage = 0;
  } allocFlags;
};

struct hipMemAccessDesc {
  hipMemLocation location;
  hipMemAccessFlags flags = hipMemAccessFlagsProtReadWrite;
};

/// The structure that hipGetDeviceProperties fills. HIP 6 changed its layout and exports the new
/// one as hipGetDevicePropertiesR0600. mneme only needs the position of the architecture's name in
/// each.
struct DeviceProperties {
  static constexpr size_t kSizeBytes = 4096; ///< more than the size of either
  static constexpr size_t kArchOffset = 396;
  static constexpr size_t kArchOffset0600 = 1160;
  static constexpr size_t kArchBytes = 256;
};

} // namespace mneme::device::hip
