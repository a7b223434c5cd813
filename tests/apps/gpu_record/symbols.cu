// Device variables: named, constant, of one unit alone, and inside a function.
#include "common.h"

__device__ int table[300];
__constant__ int factors[16];
static __device__ int launches;

__global__ void mix(int* out, int count) {
  static __device__ int total; // no host code can name it
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = table[i % 300] * factors[i % 16] + launches * 1000 + total;
}

__global__ void count() {
  ++launches;
  table[7] += 1;
}

__global__ void accumulate(int* out) {
  static __device__ int calls;
  calls += 5;
  out[0] = calls;
}

int main() {
  constexpr int size = 1000;
  std::vector<int> rows(300), few(16);
  for (int i = 0; i < 300; ++i)
    rows[i] = i;
  for (int i = 0; i < 16; ++i)
    few[i] = i + 2;
  expect(cudaMemcpyToSymbol(table, rows.data(), rows.size() * sizeof(int)));
  expect(cudaMemcpyToSymbol(factors, few.data(), few.size() * sizeof(int)));
  int* out = nullptr;
  expect(cudaMalloc(&out, size * sizeof(int)));
  for (int round = 0; round < 3; ++round) {
    count<<<1, 1>>>();
    mix<<<8, 128>>>(out, size);
    expectLaunched();
    say("mix", download(out, size));
    accumulate<<<1, 1>>>(out);
    expectLaunched();
    std::printf("calls %d\n", download(out, 1)[0]);
    few[round] += 100;
    expect(cudaMemcpyToSymbol(factors, few.data(), few.size() * sizeof(int)));
  }
  int seven = 0;
  expect(cudaMemcpyFromSymbol(&seven, table, sizeof(int), 7 * sizeof(int)));
  std::printf("table[7] %d\n", seven);
  expect(cudaFree(out));
  return finish("symbols");
}
