// The program of pages that tune one. Its kernel gains for certain on any machine: with its numbers
// as constants the loop becomes one multiplication and one addition.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

__global__ void churn(const unsigned* in, unsigned* out, int n, int rounds, unsigned factor,
                      unsigned summand) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned value = in[i];
  for (int round = 0; round < rounds; ++round)
    value = value * factor + summand;
  out[i] = value;
}

int main() {
  const int n = 1 << 16;
  std::vector<unsigned> host(n, 1);
  unsigned *in = nullptr, *out = nullptr;
  cudaMalloc(&in, n * sizeof(unsigned));
  cudaMalloc(&out, n * sizeof(unsigned));
  cudaMemcpy(in, host.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(unsigned));
  churn<<<n / 256, 256>>>(in, out, n, 64, 1664525, 1013904223);
  cudaMemcpy(host.data(), out, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  std::printf("churn: %u\n", host[0]);
  return cudaGetLastError() != cudaSuccess;
}
