// A kernel that is launched with six small grids before the large one that takes all the time.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void sweep(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 64; ++round)
    if (i < n)
      data[i] = data[i] * 0.999f + 0.001f;
}

int main() {
  const int most = 1 << 17;
  float* data = nullptr;
  cudaMalloc(&data, most * sizeof(float));
  cudaMemset(data, 0, most * sizeof(float));
  for (int blocks = 1; blocks <= 6; ++blocks)
    sweep<<<blocks, 128>>>(data, blocks * 128);
  for (int step = 0; step < 12; ++step)
    sweep<<<most / 128, 128>>>(data, most);
  float first = 0;
  cudaMemcpy(&first, data, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("first %.6f\n", first);
  return cudaGetLastError() != cudaSuccess;
}
