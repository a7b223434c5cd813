// The CUDA half of a program that uses both runtimes; both.hip is the other.
#include <cuda_runtime.h>

#include <cstdio>

__device__ int offset = 5;

__global__ void shift(int* out) { out[threadIdx.x] = threadIdx.x + offset; }

void runCuda() {
  int* device = nullptr;
  int host[32] = {};
  cudaMalloc(&device, sizeof host);
  shift<<<1, 32>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, device);
  std::printf("CUDA: %d, %s, device memory: %d\n", host[31], cudaGetErrorName(cudaGetLastError()),
              attributes.type == cudaMemoryTypeDevice);
  cudaFree(device);
}
