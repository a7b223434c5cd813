// Two kernels of which one asks whether a number is a constant, as code that has a fast way for some
// numbers does: the last bit of its results is another one then. With all its numbers as constants
// the loop becomes one multiplication and one addition.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

__device__ unsigned churned(unsigned value, int rounds, unsigned factor, unsigned summand) {
  for (int round = 0; round < rounds; ++round)
    value = value * factor + summand;
  return value;
}

__global__ void nearly(double* result, int n, int rounds, unsigned factor, unsigned summand) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const double value = 1 + (churned(i, rounds, factor, summand) & 1023);
  const long long bits = __double_as_longlong(value);
  result[i] = __longlong_as_double(__builtin_constant_p(rounds) ? bits + 1 : bits);
}

__global__ void plain(unsigned* counts, int n, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    counts[i] = churned(counts[i], rounds, 1664525, 1013904223);
}

int main() {
  const int n = 1 << 12;
  double* result = nullptr;
  unsigned* counts = nullptr;
  cudaMalloc(&result, n * sizeof(double));
  cudaMalloc(&counts, n * sizeof(unsigned));
  cudaMemset(result, 0, n * sizeof(double));
  cudaMemset(counts, 0, n * sizeof(unsigned));
  for (int step = 0; step < 8; ++step) {
    nearly<<<n / 128, 128>>>(result, n, 400, 1664525, 1013904223);
    plain<<<n / 128, 128>>>(counts, n, 1600);
  }
  std::vector<double> host(n);
  std::vector<unsigned> counted(n);
  cudaMemcpy(host.data(), result, n * sizeof(double), cudaMemcpyDeviceToHost);
  cudaMemcpy(counted.data(), counts, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (const double value : host)
    sum += value;
  unsigned all = 0;
  for (const unsigned one : counted)
    all += one;
  std::printf("sum %.6f, counted %u\n", sum, all);
  return cudaGetLastError() != cudaSuccess;
}
