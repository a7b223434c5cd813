// Heat that flows in at one place: in the first step nearly all blocks write the zeros that are
// there.
#include <cstdio>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

__global__ void flow(const float* old, float* now, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1)
    return;
  const float* cell = old + j * n + i;
  const float around = cell[-1] + cell[1] + cell[-n] + cell[n];
  now[j * n + i] = 0.2f * (cell[0] + around) + (i == 3 && j == 3);
}

int main() {
  const int n = 256;
  float *old = nullptr, *now = nullptr;
  cudaMalloc(&old, n * n * sizeof(float));
  cudaMalloc(&now, n * n * sizeof(float));
  cudaMemset(old, 0, n * n * sizeof(float));
  cudaMemset(now, 0, n * n * sizeof(float));
  for (int step = 0; step < 200; ++step) {
    flow<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(old, now, n);
    std::swap(old, now);
  }
  std::vector<float> all(n * n);
  cudaMemcpy(all.data(), old, n * n * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float one : all)
    sum += one;
  std::printf("heat %.9g\n", sum);
  return cudaGetLastError() != cudaSuccess;
}
