// Kernels that need more of their unit than their own code: variables with initial values, constant
// memory that the host writes, functions and dynamic shared memory.
#include <cstdio>

#include <cuda_runtime.h>

__device__ int counter = 40;
__constant__ float factors[3] = {1.0f, 2.0f, 4.0f};

__device__ __noinline__ float scaled(float value, int which) { return value * factors[which % 3]; }

template <typename Real> __global__ void scale(Real* out, int n) {
  extern __shared__ float tile[];
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = scaled(static_cast<float>(at), at);
  __syncthreads();
  if (at < n)
    out[at] = static_cast<Real>(tile[threadIdx.x]);
}

__global__ void count(int* out) { *out = atomicAdd(&counter, 1); }

int main() {
  constexpr int kCount = 256;
  float* out = nullptr;
  int* counted = nullptr;
  const float changed[3] = {3.0f, 2.0f, 1.0f};
  cudaMalloc(&out, kCount * sizeof(float));
  cudaMalloc(&counted, sizeof(int));
  cudaMemcpyToSymbol(factors, changed, sizeof(float), 0);
  cudaFuncAttributes attributes = {};
  cudaFuncGetAttributes(&attributes, scale<float>);
  scale<float><<<2, 128, 128 * sizeof(float)>>>(out, kCount);
  count<<<1, 1>>>(counted);
  count<<<1, 1>>>(counted);
  float values[kCount];
  int last = 0, now = 0;
  cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
  cudaMemcpy(&last, counted, sizeof last, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&now, counter, sizeof now);
  const cudaError_t error = cudaGetLastError();
  std::printf("%s %g %g %g %d %d\n", cudaGetErrorName(error), values[3], values[4], values[255], last,
              now);
  return error != cudaSuccess;
}
