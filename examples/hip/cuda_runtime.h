// Stands in for CUDA's header where the examples are built for AMD GPUs: the few names they use, by
// their HIP equivalents. A program of your own needs no more than such a header, with the names it
// uses, to be one source for both.
#pragma once

#include <hip/hip_runtime.h>

#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaError_t hipError_t
#define cudaFree (void)hipFree
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaMalloc hipMalloc
#define cudaMemcpy hipMemcpy
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyFromSymbol(to, symbol, bytes) hipMemcpyFromSymbol(to, HIP_SYMBOL(symbol), bytes)
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemcpyToSymbol(symbol, from, bytes) hipMemcpyToSymbol(HIP_SYMBOL(symbol), from, bytes)
#define cudaMemset hipMemset
#define cudaSuccess hipSuccess

// The examples count on warps of 32 threads. A wavefront of 64 is two of them.
#define __shfl_down_sync(mask, value, offset) __shfl_down(value, offset, 32)
#define __reduce_max_sync(mask, value) largestOf32(value)

inline __device__ int largestOf32(int value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = max(value, __shfl_xor(value, offset, 32));
  return value;
}
