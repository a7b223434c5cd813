// Two translation units of one program and a kernel inside a shared library.
// usage: multi_unit [elements]
#include <vector>

#include "../common.h"
#include "scale.h"

namespace {
__global__ void apply(float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    values[i] = 1.0f;
}
} // namespace

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 5000;
  float* values;
  check(cudaMalloc(&values, n * sizeof(float)), "cudaMalloc");
  apply<<<(n + 63) / 64, 64>>>(values, n);
  scaleOnDevice(values, n, 3.0f);
  rampOnDevice(values, n, 0.25f);
  check(cudaDeviceSynchronize(), "kernels");
  std::vector<float> host(n);
  check(cudaMemcpy(host.data(), values, n * sizeof(float), cudaMemcpyDeviceToHost), "copy back");
  bool isCorrect = true;
  for (int i = 0; i < n; ++i)
    isCorrect = isCorrect && host[i] == 3.0f + 0.25f * static_cast<float>(i);
  std::printf("multi_unit: n = %d, last = %g\n", n, host[n - 1]);
  cudaFree(values);
  return report(isCorrect);
}
