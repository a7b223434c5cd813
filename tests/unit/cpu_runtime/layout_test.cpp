// Our declarations of what crosses the API, against the vendor's headers (CUDA 13).
#include <cstddef>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include "runtime/emulator/runtimes/core/graph_types.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/types.h"
#include "runtime/emulator/runtimes/cuda/device_properties.h"

namespace ours = mneme::cpu_runtime;

#define SAME_SIZE(Ours, Theirs) CHECK(sizeof(ours::Ours) == sizeof(Theirs))
#define SAME_FIELD(Ours, Theirs, field)                                                            \
  CHECK(offsetof(ours::Ours, field) == offsetof(Theirs, field))

TEST_CASE("launch and copy structs are laid out as the vendor's") {
  SAME_SIZE(Dim3, dim3);
  SAME_SIZE(Extent, cudaExtent);
  SAME_SIZE(Pos, cudaPos);
  SAME_SIZE(PitchedPtr, cudaPitchedPtr);
  SAME_FIELD(PitchedPtr, cudaPitchedPtr, pitch);
  SAME_FIELD(PitchedPtr, cudaPitchedPtr, ysize);
  SAME_SIZE(Memcpy3DParms, cudaMemcpy3DParms);
  SAME_FIELD(Memcpy3DParms, cudaMemcpy3DParms, srcPtr);
  SAME_FIELD(Memcpy3DParms, cudaMemcpy3DParms, dstPtr);
  SAME_FIELD(Memcpy3DParms, cudaMemcpy3DParms, extent);
  SAME_FIELD(Memcpy3DParms, cudaMemcpy3DParms, kind);
  SAME_SIZE(Memcpy3DPeerParms, cudaMemcpy3DPeerParms);
  SAME_FIELD(Memcpy3DPeerParms, cudaMemcpy3DPeerParms, extent);
  SAME_SIZE(DriverDeviceLaunch, CUDA_LAUNCH_PARAMS);
  CHECK(offsetof(ours::DriverDeviceLaunch, gridDim) == offsetof(CUDA_LAUNCH_PARAMS, gridDimX));
  CHECK(offsetof(ours::DriverDeviceLaunch, blockDim) == offsetof(CUDA_LAUNCH_PARAMS, blockDimX));
  CHECK(offsetof(ours::DriverDeviceLaunch, sharedBytes) ==
        offsetof(CUDA_LAUNCH_PARAMS, sharedMemBytes));
  CHECK(offsetof(ours::DriverDeviceLaunch, stream) == offsetof(CUDA_LAUNCH_PARAMS, hStream));
  CHECK(offsetof(ours::DriverDeviceLaunch, args) == offsetof(CUDA_LAUNCH_PARAMS, kernelParams));
  SAME_SIZE(LaunchConfig, cudaLaunchConfig_t);
  SAME_FIELD(LaunchConfig, cudaLaunchConfig_t, dynamicSmemBytes);
  SAME_FIELD(LaunchConfig, cudaLaunchConfig_t, attrs);
  SAME_FIELD(LaunchConfig, cudaLaunchConfig_t, numAttrs);
  SAME_SIZE(LaunchAttribute, cudaLaunchAttribute);
  CHECK(offsetof(ours::LaunchAttribute, value) == offsetof(cudaLaunchAttribute, val));
  CHECK(ours::kLaunchCooperative == int{cudaLaunchAttributeCooperative});
  CHECK(ours::kLaunchClusterDimension == int{cudaLaunchAttributeClusterDimension});
}

TEST_CASE("attribute structs are laid out as the vendor's") {
  SAME_SIZE(FuncAttributes, cudaFuncAttributes);
  SAME_FIELD(FuncAttributes, cudaFuncAttributes, maxThreadsPerBlock);
  SAME_FIELD(FuncAttributes, cudaFuncAttributes, maxDynamicSharedSizeBytes);
  SAME_FIELD(FuncAttributes, cudaFuncAttributes, preferredShmemCarveout);
  SAME_FIELD(FuncAttributes, cudaFuncAttributes, nonPortableClusterSizeAllowed);
  CHECK(sizeof(ours::PointerAttributes) <= sizeof(cudaPointerAttributes));
  SAME_FIELD(PointerAttributes, cudaPointerAttributes, device);
  SAME_FIELD(PointerAttributes, cudaPointerAttributes, devicePointer);
  SAME_FIELD(PointerAttributes, cudaPointerAttributes, hostPointer);
  SAME_SIZE(MemLocation, cudaMemLocation);
  SAME_SIZE(MemAccessDesc, cudaMemAccessDesc);
  SAME_SIZE(ChannelFormatDesc, cudaChannelFormatDesc);
  CHECK(ours::kFuncMaxDynamicSharedMemorySize == int{cudaFuncAttributeMaxDynamicSharedMemorySize});
  CHECK(ours::kFuncPreferredSharedMemoryCarveout ==
        int{cudaFuncAttributePreferredSharedMemoryCarveout});
}

TEST_CASE("device properties of CUDA 13 are laid out as the vendor's") {
  SAME_SIZE(DeviceProp13, cudaDeviceProp);
  SAME_FIELD(DeviceProp13, cudaDeviceProp, totalGlobalMem);
  SAME_FIELD(DeviceProp13, cudaDeviceProp, maxGridSize);
  SAME_FIELD(DeviceProp13, cudaDeviceProp, major);
  SAME_FIELD(DeviceProp13, cudaDeviceProp, multiProcessorCount);
  SAME_FIELD(DeviceProp13, cudaDeviceProp, surfaceAlignment);
  SAME_FIELD(DeviceProp13, cudaDeviceProp, managedMemory);
  SAME_FIELD(DeviceProp13, cudaDeviceProp, sharedMemPerBlockOptin);
  SAME_FIELD(DeviceProp13, cudaDeviceProp, clusterLaunch);
  SAME_FIELD(DeviceProp13, cudaDeviceProp, gpuPciSubsystemID);
}

TEST_CASE("device properties of CUDA 12 keep their documented size") {
  CHECK(sizeof(ours::DeviceProp12) == 1032);
  CHECK(offsetof(ours::DeviceProp12, multiProcessorCount) == 388);
}

TEST_CASE("codes are the vendor's") {
  const auto same = [](ours::Status status, cudaError_t code) {
    CHECK(static_cast<int>(status) == static_cast<int>(code));
  };
  same(ours::Status::InvalidValue, cudaErrorInvalidValue);
  same(ours::Status::MemoryAllocation, cudaErrorMemoryAllocation);
  same(ours::Status::RuntimeUnloading, cudaErrorCudartUnloading);
  same(ours::Status::InvalidConfiguration, cudaErrorInvalidConfiguration);
  same(ours::Status::InvalidPitchValue, cudaErrorInvalidPitchValue);
  same(ours::Status::InvalidSymbol, cudaErrorInvalidSymbol);
  same(ours::Status::InvalidMemcpyDirection, cudaErrorInvalidMemcpyDirection);
  same(ours::Status::InvalidDeviceFunction, cudaErrorInvalidDeviceFunction);
  same(ours::Status::InvalidDevice, cudaErrorInvalidDevice);
  same(ours::Status::NoKernelImageForDevice, cudaErrorNoKernelImageForDevice);
  same(ours::Status::InvalidResourceHandle, cudaErrorInvalidResourceHandle);
  same(ours::Status::IllegalAddress, cudaErrorIllegalAddress);
  same(ours::Status::LaunchOutOfResources, cudaErrorLaunchOutOfResources);
  same(ours::Status::LaunchTimeout, cudaErrorLaunchTimeout);
  same(ours::Status::PeerAccessUnsupported, cudaErrorPeerAccessUnsupported);
  same(ours::Status::PeerAccessNotEnabled, cudaErrorPeerAccessNotEnabled);
  same(ours::Status::Assert, cudaErrorAssert);
  same(ours::Status::HostMemoryAlreadyRegistered, cudaErrorHostMemoryAlreadyRegistered);
  same(ours::Status::HostMemoryNotRegistered, cudaErrorHostMemoryNotRegistered);
  same(ours::Status::HardwareStackError, cudaErrorHardwareStackError);
  same(ours::Status::LaunchFailure, cudaErrorLaunchFailure);
  same(ours::Status::CooperativeLaunchTooLarge, cudaErrorCooperativeLaunchTooLarge);
  same(ours::Status::NotSupported, cudaErrorNotSupported);
  same(ours::Status::InvalidClusterSize, cudaErrorInvalidClusterSize);
  same(ours::Status::Unknown, cudaErrorUnknown);
}

TEST_CASE("structs of graphs are laid out as the vendor's") {
  SAME_SIZE(KernelNodeParams, cudaKernelNodeParams);
  SAME_FIELD(KernelNodeParams, cudaKernelNodeParams, blockDim);
  SAME_FIELD(KernelNodeParams, cudaKernelNodeParams, sharedMemBytes);
  SAME_FIELD(KernelNodeParams, cudaKernelNodeParams, kernelParams);
  SAME_FIELD(KernelNodeParams, cudaKernelNodeParams, extra);
  SAME_SIZE(MemsetParams, cudaMemsetParams);
  SAME_FIELD(MemsetParams, cudaMemsetParams, value);
  SAME_FIELD(MemsetParams, cudaMemsetParams, elementSize);
  SAME_FIELD(MemsetParams, cudaMemsetParams, width);
  SAME_SIZE(HostNodeParams, cudaHostNodeParams);
  SAME_SIZE(MemPoolProps, cudaMemPoolProps);
  SAME_SIZE(MemAllocNodeParams, cudaMemAllocNodeParams);
  SAME_FIELD(MemAllocNodeParams, cudaMemAllocNodeParams, bytesize);
  SAME_FIELD(MemAllocNodeParams, cudaMemAllocNodeParams, dptr);
  SAME_SIZE(GraphNodeParams, cudaGraphNodeParams);
  SAME_FIELD(GraphNodeParams, cudaGraphNodeParams, kernel);
  SAME_FIELD(GraphNodeParams, cudaGraphNodeParams, reserved2);
  CHECK(offsetof(ours::MemcpyNodeParams, copyParams) == offsetof(cudaMemcpyNodeParams, copyParams));
  SAME_SIZE(GraphInstantiateParams, cudaGraphInstantiateParams);
  SAME_FIELD(GraphInstantiateParams, cudaGraphInstantiateParams, result_out);
  SAME_SIZE(GraphExecUpdateResultInfo, cudaGraphExecUpdateResultInfo);
  SAME_SIZE(GraphEdgeData, cudaGraphEdgeData);
  CHECK(static_cast<int>(ours::NodeType::MemFree) == int{cudaGraphNodeTypeMemFree});
  CHECK(static_cast<int>(ours::NodeType::WaitEvent) == int{cudaGraphNodeTypeWaitEvent});
  CHECK(static_cast<int>(ours::UpdateResult::NotSupported) ==
        int{cudaGraphExecUpdateErrorNotSupported});
}
