// A loop over time whose kernel is told the number of the step: all its other arguments stay the same.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void advance(float* values, int count, int terms, float scale, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float sum = 0;
  for (int term = 1; term <= terms; ++term)
    sum = (sum + values[i] * scale) / term;
  values[i] = sum + step % 7;
}

int main() {
  const int count = 1 << 16;
  float* values = nullptr;
  cudaMalloc(&values, count * sizeof(float));
  cudaMemset(values, 63, count * sizeof(float));
  for (int step = 0; step < 100; ++step)
    advance<<<count / 256, 256>>>(values, count, 12, 0.5f, step);
  float last = 0;
  cudaMemcpy(&last, values + count - 1, sizeof(float), cudaMemcpyDeviceToHost);
  printf("%.9g\n", last);
  return cudaFree(values);
}
