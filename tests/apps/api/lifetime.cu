// Launches from several threads and from static destructors.
#include <thread>
#include <vector>

#include "check.h"

__global__ void add(int* value, int amount) { atomicAdd(value, amount); }
__global__ void lateAdd(int* value, int amount) { atomicAdd(value, 2 * amount); }

struct Early {
  int* value = nullptr;
  Early() {
    expect(cudaMallocManaged(&value, sizeof(int)));
    *value = 1;
  }
  ~Early() {
    add<<<1, 32>>>(value, 1);
    lateAdd<<<1, 32>>>(value, 1); // first launch of this kernel: may be refused, must not crash
    cudaDeviceSynchronize();
    cudaFree(value);
  }
};
static Early early;

int main() {
  add<<<1, 1>>>(early.value, 4);
  expectLaunched();
  check(*early.value == 5, "memory of a static constructor");
  Buffer<int> total(1);
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        add<<<2, 64>>>(total.device(), 1);
      expect(cudaGetLastError());
      expect(cudaStreamSynchronize(cudaStreamPerThread));
    });
  for (std::thread& thread : threads)
    thread.join();
  expect(cudaDeviceSynchronize());
  total.download();
  check(total[0] == 4 * 50 * 128, "launches from several threads");
  return finish("lifetime");
}
