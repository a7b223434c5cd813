#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

/// By a call past the compiler's launches.
static hipError_t launchByHandle(const void* kernel, unsigned threads, hipStream_t stream,
                                 void** arguments) {
  return hipExtLaunchKernel(kernel, dim3(1), dim3(threads), arguments, 0, stream, nullptr, nullptr, 0);
}

#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaError_t hipError_t
#define cudaFreeAsync hipFreeAsync
#define cudaFuncAttributes hipFuncAttributes
#define cudaFuncGetAttributes hipFuncGetAttributes
#define cudaGetErrorName hipGetErrorName
#define cudaHostAlloc hipHostMalloc
#define cudaHostAllocMapped hipHostMallocMapped
#define cudaHostGetDevicePointer hipHostGetDevicePointer
#define cudaLaunchCooperativeKernel hipLaunchCooperativeKernel
#define cudaMalloc hipMalloc
#define cudaMallocAsync hipMallocAsync
#define cudaMallocManaged hipMallocManaged
#define cudaMemAttachGlobal hipMemAttachGlobal
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemset hipMemset
#define cudaMemsetAsync hipMemsetAsync
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStream_t hipStream_t
#define cudaSuccess hipSuccess

#include "waiting.h"
