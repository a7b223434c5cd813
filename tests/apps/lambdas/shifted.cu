// Two kernels that differ in a lambda only. INSERT puts one more before them, so that the compiler gives
// theirs other names. CHANGED changes another kernel; EDITED the second of the two.
#include <cstdio>

#include <cuda_runtime.h>

template <typename Body> __global__ void apply(Body body, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    body(i);
}

__global__ void shift(double* values) {
  for (int round = 0; round < 2; ++round)
#ifdef CHANGED
    values[threadIdx.x] += 3;
#else
    values[threadIdx.x] += 1;
#endif
}

int main() {
  const int count = 1 << 10;
  double* values = nullptr;
  cudaMallocManaged(&values, count * sizeof(double));
  for (int i = 0; i < count; ++i)
    values[i] = i % 5;
  shift<<<1, 32>>>(values);
#ifdef INSERT
  apply<<<8, 128>>>([=] __device__(int i) { values[i] -= 0.25; }, count);
#endif
  apply<<<8, 128>>>([=] __device__(int i) { values[i] = values[i] * 0.5 + 1; }, count);
#ifdef EDITED
  apply<<<8, 128>>>([=] __device__(int i) { values[i] = values[i] / 4 - i; }, count);
#else
  apply<<<8, 128>>>([=] __device__(int i) { values[i] = values[i] / 3 - i; }, count);
#endif
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += values[i];
  std::printf("%.17g\n", sum);
}
