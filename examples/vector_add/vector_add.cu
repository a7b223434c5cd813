// The smallest recordable program: c = alpha * a + b.
// usage: vector_add [elements]
#include <vector>

#include "../common.h"

__global__ void vectorAdd(const float* a, const float* b, float* c, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = alpha * a[i] + b[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  const size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i % 1000);
    b[i] = 0.5f * static_cast<float>(i % 77);
  }

  float *deviceA, *deviceB, *deviceC;
  check(cudaMalloc(&deviceA, bytes), "cudaMalloc a");
  check(cudaMalloc(&deviceB, bytes), "cudaMalloc b");
  check(cudaMalloc(&deviceC, bytes), "cudaMalloc c");
  check(cudaMemcpy(deviceA, a.data(), bytes, cudaMemcpyHostToDevice), "copy a");
  check(cudaMemcpy(deviceB, b.data(), bytes, cudaMemcpyHostToDevice), "copy b");

  const int threads = 256;
  vectorAdd<<<(n + threads - 1) / threads, threads>>>(deviceA, deviceB, deviceC, 2.0f, n);
  check(cudaGetLastError(), "launch vectorAdd");
  check(cudaMemcpy(c.data(), deviceC, bytes, cudaMemcpyDeviceToHost), "copy c");

  bool isCorrect = true;
  for (int i = 0; i < n; ++i)
    isCorrect = isCorrect && c[i] == 2.0f * a[i] + b[i];
  std::printf("vector_add: n = %d, c[n/2] = %g\n", n, c[n / 2]);
  cudaFree(deviceA);
  cudaFree(deviceB);
  cudaFree(deviceC);
  return report(isCorrect);
}
