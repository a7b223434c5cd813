#include <cuda_runtime.h>

#include "units.h"

__device__ int shared = 17;
__device__ int rows[16] = {5, 4, 3, 2, 1};
__constant__ int factor = 3;
static __device__ int local = 1;

__device__ __noinline__ int combine(int value, int index) { return value * 3 + index % 7 + local; }

__global__ void there(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] = combine(data[i], i) - shared * factor;
  if (i < 16)
    rows[i] += factor;
}

static __global__ void advanceThere(int by) { local += by; }

void changeThere(int by) {
  const int next = 3 + by;
  cudaMemcpyToSymbol(factor, &next, sizeof next);
}

void runThere(int* data, int count) {
  there<<<3, 128>>>(data, count);
  advanceThere<<<1, 1>>>(2);
}
