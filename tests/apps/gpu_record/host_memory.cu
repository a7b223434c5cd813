// Managed, pinned and registered memory that kernels read and write in place.
#include <cstdlib>

#include "common.h"

struct Job { // pointers in an aggregate given by value
  const int* in;
  int* out;
  int count;
};

__global__ void run(Job job) {
  for (int i = threadIdx.x; i < job.count; i += blockDim.x)
    job.out[i] = job.in[i] + 3;
}

int main() {
  constexpr int count = 5000;
  constexpr size_t bytes = count * sizeof(int);
  int *managed = nullptr, *pinned = nullptr, *unread = nullptr, *device = nullptr;
  expect(cudaMallocManaged(&managed, bytes));
  expect(cudaMallocHost(&pinned, bytes));
  expect(cudaHostAlloc(&unread, bytes, cudaHostAllocMapped));
  expect(cudaMalloc(&device, bytes));
  auto* registered = static_cast<int*>(std::aligned_alloc(4096, 20480));
  for (int i = 0; i < count; ++i)
    managed[i] = pinned[i] = registered[i] = unread[i] = i * i;
  expect(cudaHostRegister(registered, 20480, cudaHostRegisterMapped));

  scale<<<4, 256>>>(pinned, managed, count, 2);
  expectLaunched();
  say("pinned to managed", {managed, managed + count});
  scale<<<4, 256>>>(managed, pinned, count, 3);
  expectLaunched();
  say("managed to pinned", {pinned, pinned + count});
  int* seen = nullptr;
  expect(cudaHostGetDevicePointer(reinterpret_cast<void**>(&seen), registered, 0));
  scale<<<4, 256>>>(seen, device, count, 5);
  expectLaunched();
  say("registered to device", download(device, count));
  run<<<1, 128>>>(Job{device, seen, count});
  expectLaunched();
  say("device to registered", {registered, registered + count});

  expect(cudaHostUnregister(registered));
  std::free(registered);
  expect(cudaFreeHost(pinned));
  expect(cudaFreeHost(unread));
  expect(cudaFree(managed));
  expect(cudaFree(device));
  return finish("host_memory");
}
