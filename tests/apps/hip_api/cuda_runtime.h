// Stands in for CUDA's header where programs of ../gpu_record are built for AMD GPUs: the names they
// use, by their HIP equivalents.
#pragma once

#include <hip/hip_runtime.h>

#define cudaDeviceGetAttribute hipDeviceGetAttribute
#define cudaDevAttrPageableMemoryAccess hipDeviceAttributePageableMemoryAccess
#define cudaGetErrorString hipGetErrorString
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaError_t hipError_t
#define cudaEvent_t hipEvent_t
#define cudaEventCreate hipEventCreate
#define cudaEventRecord hipEventRecord
#define cudaFree hipFree
#define cudaFreeAsync hipFreeAsync
#define cudaFreeHost hipHostFree
#define cudaGetErrorName hipGetErrorName
#define cudaGetLastError hipGetLastError
#define cudaGetSymbolAddress hipGetSymbolAddress
#define cudaGraph_t hipGraph_t
#define cudaGraphAddChildGraphNode hipGraphAddChildGraphNode
#define cudaGraphAddHostNode hipGraphAddHostNode
#define cudaGraphAddKernelNode hipGraphAddKernelNode
#define cudaGraphAddMemcpyNode1D hipGraphAddMemcpyNode1D
#define cudaGraphAddMemsetNode hipGraphAddMemsetNode
#define cudaGraphCreate hipGraphCreate
#define cudaGraphDestroy hipGraphDestroy
#define cudaGraphExec_t hipGraphExec_t
#define cudaGraphExecChildGraphNodeSetParams hipGraphExecChildGraphNodeSetParams
#define cudaGraphExecDestroy hipGraphExecDestroy
#define cudaGraphExecKernelNodeSetParams hipGraphExecKernelNodeSetParams
#define cudaGraphExecMemcpyNodeSetParams1D hipGraphExecMemcpyNodeSetParams1D
#define cudaGraphExecMemsetNodeSetParams hipGraphExecMemsetNodeSetParams
#define cudaGraphGetNodes hipGraphGetNodes
#define cudaGraphInstantiateWithFlags hipGraphInstantiateWithFlags
#define cudaGraphKernelNodeGetParams hipGraphKernelNodeGetParams
#define cudaGraphKernelNodeSetParams hipGraphKernelNodeSetParams
#define cudaGraphLaunch hipGraphLaunch
#define cudaGraphNode_t hipGraphNode_t
#define cudaHostGetDevicePointer hipHostGetDevicePointer
#define cudaHostNodeParams hipHostNodeParams
#define cudaHostRegister hipHostRegister
#define cudaHostRegisterMapped hipHostRegisterMapped
#define cudaHostUnregister hipHostUnregister
#define cudaKernelNodeParams hipKernelNodeParams
#define cudaMalloc hipMalloc
#define cudaMallocAsync hipMallocAsync
#define cudaMallocHost hipHostMalloc
#define cudaMallocManaged hipMallocManaged
#define cudaMemAllocationTypePinned hipMemAllocationTypePinned
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyToSymbol(symbol, from, bytes) hipMemcpyToSymbol(HIP_SYMBOL(symbol), from, bytes)
#define cudaMemLocationTypeDevice hipMemLocationTypeDevice
#define cudaMemset hipMemset
#define cudaMemsetAsync hipMemsetAsync
#define cudaMemsetParams hipMemsetParams
#define cudaStream_t hipStream_t
#define cudaStreamBeginCapture hipStreamBeginCapture
#define cudaStreamCaptureModeGlobal hipStreamCaptureModeGlobal
#define cudaStreamCreate hipStreamCreate
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamEndCapture hipStreamEndCapture
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaSuccess hipSuccess

// Headers of HIP 5 have no nodes that allocate, and none that are switched off; runtimes may have.
#include <dlfcn.h>

struct cudaMemAllocNodeParams {
  hipMemPoolProps poolProps;
  const hipMemAccessDesc* accessDescs;
  size_t accessDescCount, bytesize;
  void* dptr;
};

inline hipError_t cudaGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph,
                                           const hipGraphNode_t* dependencies, size_t count,
                                           cudaMemAllocNodeParams* params) {
  const auto add = reinterpret_cast<decltype(&cudaGraphAddMemAllocNode)>(
      dlsym(RTLD_DEFAULT, "hipGraphAddMemAllocNode"));
  return add ? add(node, graph, dependencies, count, params) : hipErrorNotSupported;
}

struct cudaGraphExecUpdateResultInfo {
  hipGraphExecUpdateResult result;
  hipGraphNode_t errorNode, errorFromNode;
};

inline hipError_t cudaGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph,
                                      cudaGraphExecUpdateResultInfo* info) {
  return hipGraphExecUpdate(exec, graph, &info->errorNode, &info->result);
}

inline hipError_t cudaGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node,
                                          unsigned isEnabled) {
  const auto set = reinterpret_cast<decltype(&cudaGraphNodeSetEnabled)>(
      dlsym(RTLD_DEFAULT, "hipGraphNodeSetEnabled"));
  return set ? set(exec, node, isEnabled) : hipErrorNotSupported;
}
