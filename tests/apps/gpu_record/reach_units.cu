// Relocatable device code: a kernel reaches variables of another unit through its pointer and
// through its function, and host memory through what these point to.
#include "reach_units.h"

#include "common.h"

__global__ void use(int* out, int round) {
  const int i = threadIdx.x;
  out[i] = entry->row[i] * entry->borrowed[i] + (i == 0 ? bump(round) : 0);
  entry->row[i] += 1;
}

int main() {
  int *borrowed = nullptr, *out = nullptr;
  expect(cudaMallocHost(&borrowed, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i)
    borrowed[i] = i - 5;
  expect(cudaMalloc(&out, 64 * sizeof(int)));
  setUp(borrowed);
  for (int round = 1; round < 4; ++round) {
    use<<<1, 64>>>(out, round);
    expectLaunched();
    say("use", download(out, 64));
  }
  expect(cudaFreeHost(borrowed));
  expect(cudaFree(out));
  return finish("reach_units");
}
