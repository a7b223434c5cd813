// Relocatable device code: variables and functions of one unit, used by kernels of both.
#include "common.h"
#include "units.h"

__global__ void here(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] = combine(data[i], i) + shared + rows[i % 16] * factor;
}

__global__ void advanceHere() { shared += 1; }

int main() {
  constexpr int count = 300;
  int* data = nullptr;
  expect(cudaMalloc(&data, count * sizeof(int)));
  expect(cudaMemset(data, 0, count * sizeof(int)));
  for (int round = 0; round < 3; ++round) {
    here<<<3, 128>>>(data, count);
    advanceHere<<<1, 1>>>();
    expectLaunched();
    say("here", data, count);
    runThere(data, count);
    expectLaunched();
    say("there", data, count);
    changeThere(round + 1);
  }
  expect(cudaFree(data));
  return finish("units");
}
