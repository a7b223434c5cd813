// Our declarations of HIP against the headers of ROCm 5.2, which Debian has, and against facts of
// later versions. Those were read from hip_runtime_api.h and driver_types.h of
// https://github.com/ROCm/HIP at the tags rocm-5.3.0, 5.5.0, 5.7.0, 6.0.0 and 6.2.2, and of
// https://github.com/ROCm/rocm-systems (projects/hip), which is HIP 7, at
// f414ba2d197a0ad5ceb9aadd80cb908b86bfe283.
#include <doctest/doctest.h>

#include <cstddef>
#include <type_traits>

#include "runtime/cpu_runtime/hip/device_properties.h"
#include "runtime/device/hip/driver.h"

#ifdef MNEME_HIP_HEADERS
#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>
#endif

namespace ours = mneme::device::hip;

// In every version since 5.3.0: type, requestedHandleType, location, win32HandleMetaData and a
// struct of compressionType, gpuDirectRDMACapable and usage.
static_assert(offsetof(ours::hipMemAllocationProp, type) == 0);
static_assert(offsetof(ours::hipMemAllocationProp, requestedHandleType) == 4);
static_assert(offsetof(ours::hipMemAllocationProp, location) == 8);
static_assert(offsetof(ours::hipMemAllocationProp, win32HandleMetaData) == 16);
static_assert(offsetof(ours::hipMemAllocationProp, allocFlags) == 24);
static_assert(sizeof(ours::hipMemAllocationProp) == 32);
// In every version since 5.3.0; 5.2 has none of this number.
static_assert(ours::hipDeviceAttributeVirtualMemoryManagementSupported == 89);

#ifdef MNEME_HIP_HEADERS

namespace {

/// Arguments that are handed over alike: numbers by size, pointers as pointers.
template <typename Ours, typename Theirs>
constexpr bool isSameArgument =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;

template <typename Ours, typename Theirs> constexpr bool isSameFunction = false;
template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
constexpr bool isSameFunction<OurResult (*)(Ours...), TheirResult (*)(Theirs...)> = [] {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs))
    return isSameArgument<OurResult, TheirResult> && (isSameArgument<Ours, Theirs> && ...);
  return false;
}();

} // namespace

#define SAME_VALUE(name) static_assert(int{ours::name} == int{::name})
#define SAME_FUNCTION(name)                                                                        \
  static_assert(isSameFunction<decltype(ours::Driver::name), decltype(&::name)>)
// For those that the header has again as templates.
#define SAME_OVERLOAD(name, ...)                                                                   \
  static_assert(isSameFunction<decltype(ours::Driver::name),                                       \
                               decltype(static_cast<::hipError_t (*)(__VA_ARGS__)>(&::name))>)

SAME_VALUE(hipSuccess);
SAME_VALUE(hipErrorInvalidValue);
SAME_VALUE(hipErrorOutOfMemory);
SAME_VALUE(hipErrorNotInitialized);
SAME_VALUE(hipErrorInsufficientDriver);
SAME_VALUE(hipErrorNoDevice);
SAME_VALUE(hipErrorInvalidDevice);
SAME_VALUE(hipErrorInvalidImage);
SAME_VALUE(hipErrorInvalidConfiguration);
SAME_VALUE(hipErrorMapFailed);
SAME_VALUE(hipErrorNoBinaryForGpu);
SAME_VALUE(hipErrorECCNotCorrectable);
SAME_VALUE(hipErrorInvalidKernelFile);
SAME_VALUE(hipErrorInvalidSource);
SAME_VALUE(hipErrorFileNotFound);
SAME_VALUE(hipErrorSharedObjectSymbolNotFound);
SAME_VALUE(hipErrorSharedObjectInitFailed);
SAME_VALUE(hipErrorNotFound);
SAME_VALUE(hipErrorNotReady);
SAME_VALUE(hipErrorIllegalAddress);
SAME_VALUE(hipErrorLaunchOutOfResources);
SAME_VALUE(hipErrorLaunchTimeOut);
SAME_VALUE(hipErrorContextIsDestroyed);
SAME_VALUE(hipErrorAssert);
SAME_VALUE(hipErrorLaunchFailure);
SAME_VALUE(hipErrorCooperativeLaunchTooLarge);
SAME_VALUE(hipErrorNotSupported);
SAME_VALUE(hipErrorUnknown);
SAME_VALUE(hipDeviceAttributeCooperativeLaunch);
SAME_VALUE(hipDeviceAttributeL2CacheSize);
SAME_VALUE(hipDeviceAttributeMaxBlockDimX);
SAME_VALUE(hipDeviceAttributeMaxGridDimX);
SAME_VALUE(hipDeviceAttributeMaxThreadsPerBlock);
SAME_VALUE(hipDeviceAttributeMultiprocessorCount);
SAME_VALUE(hipDeviceAttributeMaxSharedMemoryPerBlock);
SAME_VALUE(hipDeviceAttributeWarpSize);
SAME_VALUE(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(hipMemLocationTypeDevice);
SAME_VALUE(hipMemAccessFlagsProtReadWrite);
SAME_VALUE(hipMemAllocationTypePinned);
SAME_VALUE(hipMemHandleTypeNone);
SAME_VALUE(hipMemAllocationGranularityMinimum);
static_assert(int{hipDeviceAttributeMaxBlockDimZ} == ours::hipDeviceAttributeMaxBlockDimX + 2);
static_assert(int{hipDeviceAttributeMaxGridDimZ} == ours::hipDeviceAttributeMaxGridDimX + 2);

// The header has these as macros.
static_assert(mneme::device::gpu::kTimedEvent == hipEventDefault);
static_assert(mneme::device::gpu::kUntimedEvent == hipEventDisableTiming);
constexpr unsigned nonBlocking = hipStreamNonBlocking, portable = hipHostMallocPortable;
#undef hipStreamNonBlocking
#undef hipHostMallocPortable
static_assert(ours::hipStreamNonBlocking == nonBlocking);
static_assert(ours::hipHostMallocPortable == portable);

SAME_FUNCTION(hipInit);
SAME_FUNCTION(hipRuntimeGetVersion);
SAME_FUNCTION(hipGetErrorName);
SAME_FUNCTION(hipGetErrorString);
SAME_FUNCTION(hipGetLastError);
SAME_FUNCTION(hipGetDeviceCount);
SAME_FUNCTION(hipGetDevice);
SAME_FUNCTION(hipSetDevice);
SAME_FUNCTION(hipDeviceGetName);
SAME_FUNCTION(hipDeviceGetAttribute);
SAME_FUNCTION(hipDeviceTotalMem);
SAME_FUNCTION(hipGetDeviceProperties);
SAME_FUNCTION(hipMemGetInfo);
SAME_OVERLOAD(hipHostMalloc, void**, size_t, unsigned);
SAME_FUNCTION(hipHostFree);
SAME_FUNCTION(hipMemAddressReserve);
SAME_FUNCTION(hipMemAddressFree);
SAME_FUNCTION(hipMemCreate);
SAME_FUNCTION(hipMemRelease);
SAME_FUNCTION(hipMemMap);
SAME_FUNCTION(hipMemUnmap);
SAME_FUNCTION(hipMemSetAccess);
SAME_FUNCTION(hipMemGetAccess);
SAME_FUNCTION(hipMemGetAllocationGranularity);
SAME_FUNCTION(hipMemcpyHtoDAsync);
SAME_FUNCTION(hipMemcpyDtoHAsync);
SAME_FUNCTION(hipMemcpyDtoDAsync);
SAME_FUNCTION(hipMemsetD8Async);
SAME_FUNCTION(hipStreamCreateWithFlags);
SAME_FUNCTION(hipStreamDestroy);
SAME_FUNCTION(hipStreamSynchronize);
SAME_FUNCTION(hipStreamQuery);
SAME_FUNCTION(hipEventCreateWithFlags);
SAME_FUNCTION(hipEventDestroy);
SAME_FUNCTION(hipEventRecord);
SAME_FUNCTION(hipEventQuery);
SAME_FUNCTION(hipEventSynchronize);
SAME_FUNCTION(hipEventElapsedTime);
SAME_FUNCTION(hipModuleLoadData);
SAME_FUNCTION(hipModuleUnload);
SAME_FUNCTION(hipModuleGetFunction);
SAME_FUNCTION(hipModuleGetGlobal);
SAME_FUNCTION(hipFuncGetAttribute);
SAME_FUNCTION(hipModuleLaunchKernel);
SAME_FUNCTION(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);

static_assert(sizeof(ours::hipMemLocation) == sizeof(::hipMemLocation));
static_assert(offsetof(ours::hipMemLocation, id) == offsetof(::hipMemLocation, id));
static_assert(sizeof(ours::hipMemAccessDesc) == sizeof(::hipMemAccessDesc));
static_assert(offsetof(ours::hipMemAccessDesc, flags) == offsetof(::hipMemAccessDesc, flags));

#if HIP_VERSION_MAJOR < 6
static_assert(ours::DeviceProperties::kArchOffset == offsetof(hipDeviceProp_t, gcnArchName));
#else
static_assert(ours::DeviceProperties::kArchOffset0600 == offsetof(hipDeviceProp_t, gcnArchName));
#endif
static_assert(ours::DeviceProperties::kArchBytes == sizeof(hipDeviceProp_t::gcnArchName));
static_assert(sizeof(hipDeviceProp_t) < ours::DeviceProperties::kSizeBytes);
#if HIP_VERSION_MAJOR == 5 && HIP_VERSION_MINOR < 3
static_assert(offsetof(::hipMemAllocationProp, location) == 4, "another order than since 5.3");
#else
static_assert(sizeof(ours::hipMemAllocationProp) == sizeof(::hipMemAllocationProp));
static_assert(offsetof(ours::hipMemAllocationProp, location) ==
              offsetof(::hipMemAllocationProp, location));
static_assert(int{::hipDeviceAttributeVirtualMemoryManagementSupported} == 89);
#endif

#endif

TEST_CASE("what is declared of HIP is what its headers say") {
#ifndef MNEME_HIP_HEADERS
  MESSAGE("skipped: no HIP headers here (libamdhip64-dev); facts of later versions are checked");
#endif
  // Since HIP 6; the same in 6.0.0, 6.2.2 and HIP 7.
  using Properties = mneme::cpu_runtime::hip::DeviceProp0600;
  static_assert(sizeof(Properties) == 1472 && 1472 < ours::DeviceProperties::kSizeBytes);
  const Properties properties{};
  CHECK(properties.gcnArchName - reinterpret_cast<const char*>(&properties) ==
        ours::DeviceProperties::kArchOffset0600);
}
