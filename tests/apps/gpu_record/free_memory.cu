// What a program hears about the device's memory while it takes and gives back its own.
#include "common.h"

static size_t atFirst = 0;

/// Says how much is taken beyond what was taken at first, in MiB: others may use the device, too.
static void sayTaken(const char* what) {
  size_t free = 0, total = 0;
  expect(cudaMemGetInfo(&free, &total));
  check(free <= total, "no more is free than there is");
  if (atFirst == 0)
    atFirst = free;
  const auto taken = static_cast<double>(static_cast<long long>(atFirst - free));
  std::printf("%s: %.0f MiB\n", what, taken / (1 << 20));
}

static void sayPool(const char* what) {
  cudaMemPool_t pool;
  unsigned long long used = 0;
  expect(cudaDeviceGetDefaultMemPool(&pool, 0));
  expect(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  std::printf("%s: %llu bytes of the pool\n", what, used);
}

int main() {
  constexpr size_t piece = size_t{64} << 20;
  constexpr int count = 1000;
  int *data = nullptr, *ordered = nullptr;
  void *large = nullptr, *pitched = nullptr;
  expect(cudaMalloc(&data, count * sizeof(int)));
  expect(cudaMemset(data, 0, count * sizeof(int)));
  scale<<<4, 64>>>(data, data, count, 1);
  expectLaunched();
  sayTaken("at first");
  expect(cudaMalloc(&large, piece));
  sayTaken("one piece more");
  scale<<<4, 64>>>(data, data, count, 3);
  expectLaunched();
  sayTaken("after a launch");
  size_t pitch = 0;
  expect(cudaMallocPitch(&pitched, &pitch, 1 << 20, 64));
  sayTaken("and a pitched one");
  expect(cudaFree(large));
  sayTaken("without the first");
  expect(cudaFree(pitched));
  sayTaken("without both");
  sayPool("before");
  expect(cudaMallocAsync(reinterpret_cast<void**>(&ordered), 3 << 20, nullptr));
  expect(cudaDeviceSynchronize());
  sayPool("taken");
  expect(cudaFreeAsync(ordered, nullptr));
  expect(cudaDeviceSynchronize());
  sayPool("given back");
  say("result", download(data, count));
  expect(cudaFree(data));
  return finish("free_memory");
}
