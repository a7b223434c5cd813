// Memory from the driver API, in the runtime's context, by a program linked with the driver.
#include "common.h"

extern "C" {
int cuMemAlloc_v2(unsigned long long* address, size_t bytes);
int cuMemAllocPitch_v2(unsigned long long* address, size_t* pitch, size_t width, size_t height,
                       unsigned elementBytes);
int cuMemAllocHost_v2(void** pointer, size_t bytes);
int cuMemFree_v2(unsigned long long address);
int cuMemFreeHost(void* pointer);
int cuMemcpyDtoH_v2(void* destination, unsigned long long source, size_t bytes);
}

int main() {
  constexpr int count = 6000;
  constexpr size_t bytes = count * sizeof(int);
  expect(cudaFree(nullptr)); // the runtime's context is current from here on
  unsigned long long in = 0, out = 0, rows = 0;
  size_t pitch = 0;
  void* host = nullptr;
  check(cuMemAlloc_v2(&in, bytes) == 0, "device memory");
  check(cuMemAlloc_v2(&out, bytes) == 0, "more device memory");
  check(cuMemAllocPitch_v2(&rows, &pitch, 100, 50, 4) == 0 && pitch >= 100, "rows");
  check(cuMemAllocHost_v2(&host, bytes) == 0, "pinned memory");
  expect(cudaMemset(reinterpret_cast<void*>(in), 1, bytes));
  scale<<<8, 128>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out), count, 13);
  expectLaunched();
  check(cuMemcpyDtoH_v2(host, out, bytes) == 0, "a copy by the driver");
  say("driver", {static_cast<int*>(host), static_cast<int*>(host) + count});
  scale<<<8, 128>>>(reinterpret_cast<int*>(out), static_cast<int*>(host), count, 17);
  expectLaunched();
  say("pinned by the driver", {static_cast<int*>(host), static_cast<int*>(host) + count});
  check(cuMemFree_v2(in) == 0 && cuMemFree_v2(rows) == 0, "freed by the driver");
  expect(cudaFree(reinterpret_cast<void*>(out)));
  check(cuMemFreeHost(host) == 0, "pinned memory freed");
  check(cuMemFree_v2(in) != 0, "not twice");
  return finish("driver_memory");
}
