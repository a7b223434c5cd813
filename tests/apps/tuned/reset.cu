// A device reset gives every variable its initial value again, and kernels go on afterwards.
#include "common.h"

__device__ int counter = 100;
__constant__ int step = 5;

__global__ void advance(int* out, int count) {
  const int i = threadIdx.x;
  if (i < count)
    out[i] = counter + i * step;
  __syncthreads();
  if (i == 0)
    counter += step;
}

int main() {
  constexpr int count = 64;
  for (int life = 0; life < 3; ++life) {
    int* out = nullptr;
    expect(cudaMalloc(&out, count * sizeof(int)));
    for (int round = 0; round < 3; ++round) {
      advance<<<1, count>>>(out, count);
      expectLaunched();
      say("advance", out, count);
      const int next = life * 10 + round;
      expect(cudaMemcpyToSymbol(step, &next, sizeof next));
    }
    int counted = 0;
    expect(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
    std::printf("counter %d\n", counted);
    expect(cudaDeviceReset());
  }
  return finish("reset");
}
