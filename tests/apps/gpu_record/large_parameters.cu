// Kernels with more than 4 KiB of parameters, read in place, changed as the kernel's own copy, and
// close to the 32 KiB there may be.
#include "common.h"

struct Table {
  int count;
  float scale;
  int values[5000];
  char tail[8];
};
struct Weights {
  double values[4000];
  int count;
};
static_assert(sizeof(Table) > 4096 && sizeof(Weights) > 32000);

__global__ void look(const __grid_constant__ Table table, int* out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < table.count; i += gridDim.x * blockDim.x)
    out[i] = table.values[i % 5000] * 2 + static_cast<int>(table.scale) + table.tail[i & 7];
}

__global__ void change(Table table, int* out) {
  const int i = threadIdx.x;
  table.values[i] += 5;
  out[i] = table.values[i] + table.values[i + 1];
}

__global__ void weigh(const __grid_constant__ Weights weights, int* out, int step) {
  for (int i = threadIdx.x; i < weights.count; i += blockDim.x)
    out[i] = static_cast<int>(weights.values[i * step % 4000] * 8);
}

int main() {
  constexpr int count = 6000;
  int* out = nullptr;
  expect(cudaMalloc(&out, count * sizeof(int)));
  expect(cudaMemset(out, 0, count * sizeof(int)));
  static Table table{count, 3.5f, {}, {1, 2, 3, 4, 5, 6, 7, 8}};
  for (int i = 0; i < 5000; ++i)
    table.values[i] = i * 7;
  for (int round = 0; round < 2; ++round) {
    table.values[0] = round;
    look<<<8, 128>>>(table, out);
    expectLaunched();
    say("look", download(out, count));
  }
  change<<<1, 64>>>(table, out);
  expectLaunched();
  say("change", download(out, count));
  static Weights weights{{}, 3000};
  for (int i = 0; i < 4000; ++i)
    weights.values[i] = i * 0.5;
  weigh<<<1, 256>>>(weights, out, 3);
  expectLaunched();
  say("weigh", download(out, count));
  expect(cudaFree(out));
  return finish("large_parameters");
}
