// Takes all device memory, hears that there is no more, gives it back and goes on.
#include "common.h"

int main() {
  constexpr size_t piece = size_t{512} << 20;
  size_t free = 0, total = 0;
  expect(cudaMemGetInfo(&free, &total));
  check(free > 0 && free <= total, "some memory is free");
  if (free > (size_t{200} << 30)) { // a device without bounds of its own
    std::printf("too much memory to take\n");
    return finish("exhaust");
  }
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> taken;
    cudaError_t status = cudaSuccess;
    while (status == cudaSuccess && taken.size() < 1000) {
      void* memory = nullptr;
      status = cudaMalloc(&memory, piece);
      if (status == cudaSuccess)
        taken.push_back(memory);
    }
    expect(status, cudaErrorMemoryAllocation);
    expect(cudaGetLastError(), cudaErrorMemoryAllocation);
    expect(cudaGetLastError());
    check((taken.size() + 4) * piece > free, "nearly all of it was to be had");
    for (void* memory : taken)
      expect(cudaFree(memory));
  }
  // One large block where many small ones were.
  void* large = nullptr;
  expect(cudaMalloc(&large, free / 10 * 9));
  expect(cudaFree(large));
  constexpr int count = 1000;
  int* data = nullptr;
  expect(cudaMalloc(&data, count * sizeof(int)));
  expect(cudaMemset(data, 0, count * sizeof(int)));
  scale<<<4, 64>>>(data, data, count, 1);
  expectLaunched();
  say("afterwards", download(data, count));
  expect(cudaFree(data));
  return finish("exhaust");
}
