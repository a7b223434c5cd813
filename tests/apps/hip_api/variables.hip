// A kernel with device variables, constant and not, and dynamic shared memory.
#include <hip/hip_runtime.h>

#include <cstdio>

constexpr int kCount = 4000;

__device__ int counter;
__constant__ float weights[4];
__device__ float table[1024];

__global__ void apply(float* out, int count) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    out[i] += weights[i % 4] * table[i % 1024];
    atomicAdd(&counter, 1);
  }
  tile[threadIdx.x] = i;
  __syncthreads();
  if (i < count)
    out[i] += tile[blockDim.x - 1 - threadIdx.x];
}

int main() {
  float values[1024], out[kCount];
  for (int i = 0; i < 1024; ++i)
    values[i] = i;
  bool isGood = hipMemcpyToSymbol(HIP_SYMBOL(weights), values + 1, sizeof(weights)) == hipSuccess;
  isGood &= hipMemcpyToSymbol(HIP_SYMBOL(table), values, sizeof(table)) == hipSuccess;
  float* memory = nullptr;
  isGood &= hipMalloc(&memory, sizeof(out)) == hipSuccess;
  isGood &= hipMemset(memory, 0, sizeof(out)) == hipSuccess;
  apply<<<16, 256, 256 * sizeof(float)>>>(memory, kCount);
  isGood &= hipMemcpy(out, memory, sizeof(out), hipMemcpyDeviceToHost) == hipSuccess;
  int calls = 0;
  isGood &= hipMemcpyFromSymbol(&calls, HIP_SYMBOL(counter), sizeof(calls)) == hipSuccess;
  std::printf("%d %g\n", calls, out[kCount - 1]);
  return isGood ? 0 : 1;
}
