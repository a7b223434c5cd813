// Device variables of every kind, changed by the host and by kernels between launches.
#include "common.h"

__device__ int table[64] = {1, 2, 3};
__device__ int* cursor = &table[2];
static __device__ int hidden = 7;
__constant__ int factors[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ float unchanged[2] = {0.5f, 4.0f};
static __constant__ int secret[4] = {9, 8, 7, 6};
__device__ const int primes[6] = {2, 3, 5, 7, 11, 13};
__device__ int never;

struct Node {
  int value;
  Node* next;
};
__device__ Node tail = {3, nullptr};
__device__ Node head = {1, &tail};

__global__ void combine(int* out, int count, int scale) {
  static __device__ int calls; // no host code can name it
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  out[i] = table[i % 64] * factors[i % 8] + hidden * scale + *cursor + primes[i % 6] +
           secret[i % 4] * static_cast<int>(unchanged[1] * unchanged[0]) + head.next->value;
  if (i == 0) {
    out[0] += calls;
    calls += 3;
    never += 1;
  }
}

__global__ void change(int step) {
  const int i = threadIdx.x;
  table[i] += factors[i % 8] * step;
  if (i == 0) {
    hidden += step;
    cursor = &table[(step * 5) % 64];
    head.next->value += 10;
  }
}

__global__ void readConstants(int* out) {
  out[threadIdx.x] = factors[threadIdx.x % 8] * 100 + primes[threadIdx.x % 6];
}

int main() {
  constexpr int count = 500;
  int* out = nullptr;
  expect(cudaMalloc(&out, count * sizeof(int)));
  int few[8] = {2, 3, 5, 7, 11, 13, 17, 19};
  for (int round = 1; round <= 4; ++round) {
    combine<<<4, 128>>>(out, count, round);
    expectLaunched();
    say("combine", out, count);
    change<<<1, 64>>>(round);
    few[round] += 1000 * round;
    expect(cudaMemcpyToSymbol(factors, few, sizeof few));
    readConstants<<<1, 32>>>(out);
    say("constants", out, 32);
    int one = round * 7;
    expect(cudaMemcpyToSymbolAsync(factors, &one, sizeof one, 4, cudaMemcpyHostToDevice, nullptr));
    few[1] = one;
    readConstants<<<1, 32>>>(out);
    say("constants changed asynchronously", out, 32);
    expect(cudaMemcpyToSymbol(table, &one, sizeof one, 5 * sizeof(int)));
  }
  int host[64], counted = 0;
  expect(cudaMemcpyFromSymbol(host, table, sizeof host));
  expect(cudaMemcpyFromSymbol(&counted, never, sizeof counted));
  std::printf("table: %u, counted %d\n", sumOf({host, host + 64}), counted);
  void* address = nullptr;
  expect(cudaGetSymbolAddress(&address, factors));
  few[3] = 12345; // written by address, past the symbol
  expect(cudaMemcpy(address, few, sizeof few, cudaMemcpyHostToDevice));
  readConstants<<<1, 32>>>(out);
  say("constants changed by address", out, 32);
  expect(cudaFree(out));
  return finish("variables");
}
