// Stands in for CUDA's header where programs of ../gpu_record are built for AMD GPUs: the names they
// use, by their HIP equivalents.
#pragma once

#include <hip/hip_runtime.h>

#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaError_t hipError_t
#define cudaFree hipFree
#define cudaFreeAsync hipFreeAsync
#define cudaFreeHost hipHostFree
#define cudaGetErrorName hipGetErrorName
#define cudaGetLastError hipGetLastError
#define cudaGetSymbolAddress hipGetSymbolAddress
#define cudaGraphAddChildGraphNode hipGraphAddChildGraphNode
#define cudaGraphAddKernelNode hipGraphAddKernelNode
#define cudaGraphCreate hipGraphCreate
#define cudaGraphDestroy hipGraphDestroy
#define cudaGraphExecDestroy hipGraphExecDestroy
#define cudaGraphExecKernelNodeSetParams hipGraphExecKernelNodeSetParams
#define cudaGraphExec_t hipGraphExec_t
#define cudaGraphGetNodes hipGraphGetNodes
#define cudaGraphInstantiateWithFlags hipGraphInstantiateWithFlags
#define cudaGraphKernelNodeGetParams hipGraphKernelNodeGetParams
#define cudaGraphKernelNodeSetParams hipGraphKernelNodeSetParams
#define cudaGraphLaunch hipGraphLaunch
#define cudaGraphNode_t hipGraphNode_t
#define cudaGraph_t hipGraph_t
#define cudaHostGetDevicePointer hipHostGetDevicePointer
#define cudaHostRegister hipHostRegister
#define cudaHostRegisterMapped hipHostRegisterMapped
#define cudaHostUnregister hipHostUnregister
#define cudaKernelNodeParams hipKernelNodeParams
#define cudaMalloc hipMalloc
#define cudaMallocAsync hipMallocAsync
#define cudaMallocHost hipHostMalloc
#define cudaMallocManaged hipMallocManaged
#define cudaMemAllocationTypePinned hipMemAllocationTypePinned
#define cudaMemLocationTypeDevice hipMemLocationTypeDevice
#define cudaMemcpy hipMemcpy
#define cudaMemcpyDefault hipMemcpyDefault
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyToSymbol(symbol, from, bytes) hipMemcpyToSymbol(HIP_SYMBOL(symbol), from, bytes)
#define cudaMemset hipMemset
#define cudaStreamBeginCapture hipStreamBeginCapture
#define cudaStreamCaptureModeGlobal hipStreamCaptureModeGlobal
#define cudaStreamCreate hipStreamCreate
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamEndCapture hipStreamEndCapture
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStream_t hipStream_t
#define cudaSuccess hipSuccess

// Headers of HIP 5 have no nodes that allocate; runtimes may have.
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
