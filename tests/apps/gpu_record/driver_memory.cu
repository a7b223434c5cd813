// Memory from the driver API, in the runtime's context, by a program linked with the driver.
#include <cuda.h>

#include "common.h"

int main() {
  constexpr int count = 6000;
  constexpr size_t bytes = count * sizeof(int);
  expect(cudaFree(nullptr)); // the runtime's context is current from here on
  CUdeviceptr in = 0, out = 0, rows = 0;
  size_t pitch = 0;
  void* host = nullptr;
  check(cuMemAlloc(&in, bytes) == 0, "device memory");
  check(cuMemAlloc(&out, bytes) == 0, "more device memory");
  check(cuMemAllocPitch(&rows, &pitch, 100, 50, 4) == 0 && pitch >= 100, "rows");
  check(cuMemAllocHost(&host, bytes) == 0, "pinned memory");
  expect(cudaMemset(reinterpret_cast<void*>(in), 1, bytes));
  scale<<<8, 128>>>(reinterpret_cast<int*>(in), reinterpret_cast<int*>(out), count, 13);
  expectLaunched();
  check(cuMemcpyDtoH(host, out, bytes) == 0, "a copy by the driver");
  say("driver", {static_cast<int*>(host), static_cast<int*>(host) + count});
  scale<<<8, 128>>>(reinterpret_cast<int*>(out), static_cast<int*>(host), count, 17);
  expectLaunched();
  say("pinned by the driver", {static_cast<int*>(host), static_cast<int*>(host) + count});
  check(cuMemFree(in) == 0 && cuMemFree(rows) == 0, "freed by the driver");
  expect(cudaFree(reinterpret_cast<void*>(out)));
  check(cuMemFreeHost(host) == 0, "pinned memory freed");
  check(cuMemFree(in) != 0, "not twice");
  return finish("driver_memory");
}
