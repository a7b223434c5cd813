// Kernels whose results depend on how floating-point code was compiled. At most one uses a table of
// the device library: where tables lie depends on how many a module has.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void saxpy(float* y, const float* x, float a, int n) {
  if (int i = index(); i < n)
    y[i] = a * x[i] + y[i];
}

__global__ void squares(double* y, const double* x, int n) {
  if (int i = index(); i < n) {
    double first = x[3 * i] * x[3 * i];
    double second = first + x[3 * i + 1] * x[3 * i + 1];
    y[i] = second + x[3 * i + 2] * x[3 * i + 2];
  }
}

__global__ void divide(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = x[i] / y[i];
}

__global__ void roots(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = sqrtf(x[i]) + rsqrtf(y[i]);
}

__global__ void library(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = sinf(x[i]) + expf(y[i]) * logf(x[i]) + powf(x[i], y[i]);
}

__global__ void doubleLibrary(double* y, const double* x, int n) {
  if (int i = index(); i < n)
    y[i] = log(x[i]) / exp(y[i]) + sqrt(y[i]);
}

__global__ void denormals(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = x[i] * 1e-38f + fminf(x[i], y[i]);
}

__device__ __noinline__ float helper(float a, float b) { return a * b - 1.0f; }

__global__ void calls(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = helper(x[i], y[i]) * x[i] + 2.0f;
}

__global__ void __launch_bounds__(128, 4) tile(float* y, const float* x, int n) {
  __shared__ float part[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 128; ++k)
    sum += part[k] * part[(k + threadIdx.x) & 127];
  if (i < n)
    y[i] = sum;
}

__global__ void explicitRounding(float* y, const float* x, int n) {
  if (int i = index(); i < n)
    y[i] = __fmul_rn(x[i], y[i]) + __fdividef(x[i], 3.f) + __expf(y[i]);
}

__global__ void halves(__half* y, const __half* x, int n) {
  if (int i = 4 * index(); i < n)
    for (int k = 0; k < 4; ++k)
      y[i + k] = __hadd(__hmul(y[i + k], x[i + k]), x[i + k]);
}

__global__ void warpSum(float* y, int n) {
  namespace cg = cooperative_groups;
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  float sum = y[block.thread_rank()];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += warp.shfl_down(sum, offset);
  if (warp.thread_rank() == 0)
    y[blockIdx.x] = sum;
}

template <int N> __global__ void unrolled(float* y, const float* x) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < N; ++k)
    sum += x[k * 32 + threadIdx.x] * x[k];
  y[threadIdx.x] = sum;
}
template __global__ void unrolled<100>(float*, const float*);

__global__ void localArray(float* y, const int* places, int n) {
  float values[32];
  for (int k = 0; k < 32; ++k)
    values[k] = y[k] * k;
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += values[places[k] & 31];
  y[threadIdx.x] = sum;
}

__global__ void strided(float* y, const float* __restrict__ x, int n) {
  float sum = 0;
  for (int k = threadIdx.x; k < n; k += blockDim.x)
    sum += x[k] * x[k];
  y[threadIdx.x] = sum;
}
