// A library with a kernel and a device variable that it needs.
#include <cuda_runtime.h>

__device__ unsigned bias = 7;

__global__ void biased(unsigned* values, unsigned factor) {
  values[threadIdx.x] = threadIdx.x * factor + bias;
}

extern "C" unsigned launch(unsigned factor) {
  unsigned *values = nullptr, last = 0;
  cudaMalloc(&values, 256 * sizeof(unsigned));
  biased<<<1, 256>>>(values, factor);
  cudaMemcpy(&last, values + 255, sizeof(unsigned), cudaMemcpyDefault);
  cudaFree(values);
  return last;
}
