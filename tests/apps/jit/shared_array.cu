// Two functions of a kernel share one array; only one of them knows its size as a constant.
#include <cstdio>
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

__device__ void write(int n) { proteus::shared_array<int, 64>(n)[threadIdx.x] = threadIdx.x + 1; }
__device__ int read(int n, int at) { return proteus::shared_array<int, 64>(n)[at]; }

__global__ void share(int n, int unmarked, int* out) {
  proteus::jit_arg(n);
  int* known = proteus::shared_array<int, 64>(n);
  write(unmarked);
  __syncthreads();
  out[threadIdx.x] = known[n - 1 - threadIdx.x] + read(unmarked, threadIdx.x);
}

int main() {
  int* out = nullptr;
  cudaMallocManaged(&out, 32 * sizeof(int));
  share<<<1, 32>>>(32, 32, out);
  cudaDeviceSynchronize();
  printf("shared %d %d\n", out[0], out[31]);
}
