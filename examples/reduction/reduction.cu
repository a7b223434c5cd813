// Sum and maximum of an array: warp shuffles inside a warp, shared memory inside a block, atomics
// between blocks. The floating-point sum depends on the order of the atomics: its replays are
// classed as nondeterministic unless a tolerance says what is close enough (mneme::annotate below).
// usage: reduction [elements]
#include <cmath>
#include <vector>

#include <mneme/MnemeAnnotation.hpp>

#include "../common.h"

__device__ float warpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

// In lane 0. Before release 21, clang's __reduce_max_sync gave the instruction its arguments in the
// wrong order.
__device__ int warpMax(int value) {
#if __clang_major__ >= 21
  return __reduce_max_sync(0xffffffffu, value);
#else
  for (int offset = 16; offset > 0; offset /= 2)
    value = max(value, __shfl_down_sync(0xffffffffu, value, offset));
  return value;
#endif
}

__global__ void blockSum(const float* in, float* sum, int* largest, int n) {
  __shared__ float partial[32];
  float value = 0.0f;
  int maximum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    value += in[i];
    maximum = max(maximum, static_cast<int>(in[i] * 1000.0f));
  }
  value = warpSum(value);
  maximum = warpMax(maximum);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  if (lane == 0)
    partial[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
    value = warpSum(value);
    if (lane == 0)
      atomicAdd(sum, value);
  }
  if (lane == 0)
    atomicMax(largest, maximum);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 18;
  std::vector<float> values(n);
  double expected = 0.0;
  for (int i = 0; i < n; ++i) {
    values[i] = 1.0f / static_cast<float>(1 + i % 4096);
    expected += values[i];
  }
  float *in, *sum;
  int* largest;
  check(cudaMalloc(&in, n * sizeof(float)), "cudaMalloc in");
  check(cudaMalloc(&sum, sizeof(float)), "cudaMalloc sum");
  check(cudaMalloc(&largest, sizeof(int)), "cudaMalloc largest");
  mneme::annotate(sum, {.builtin = mneme::BuiltinDType::F32,
                        .threshold = 1e-5,
                        .threshold_kind = mneme::ThresholdKind::Relative});
  check(cudaMemcpy(in, values.data(), n * sizeof(float), cudaMemcpyHostToDevice), "copy in");
  check(cudaMemset(sum, 0, sizeof(float)), "clear sum");
  check(cudaMemset(largest, 0, sizeof(int)), "clear largest");
  blockSum<<<64, 256>>>(in, sum, largest, n);
  check(cudaGetLastError(), "launch blockSum");

  float total = 0.0f;
  int maximum = 0;
  check(cudaMemcpy(&total, sum, sizeof(float), cudaMemcpyDeviceToHost), "copy sum");
  check(cudaMemcpy(&maximum, largest, sizeof(int), cudaMemcpyDeviceToHost), "copy largest");
  std::printf("reduction: n = %d, sum = %.1f, max = %d\n", n, total, maximum);
  cudaFree(in);
  cudaFree(sum);
  cudaFree(largest);
  return report(std::fabs(total - expected) < 1e-4 * expected && maximum == 1000);
}
