// What the tiny programs share: each unit fills a buffer with one value and says whether it arrived.
#pragma once

#include <cstdio>
#include <cuda_runtime.h>

constexpr int kCount = 64;

/// Runs `kernel(buffer, value)` and returns whether every element has the value; says so on stdout.
template <typename Kernel> bool fills(Kernel kernel, const char* name, int value) {
  int* device = nullptr;
  int host[kCount] = {};
  cudaMalloc(&device, sizeof host);
  kernel<<<1, kCount>>>(device, value);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(device);
  for (int element : host)
    if (element != value) {
      std::printf("%s FAILED: %d\n", name, element);
      return false;
    }
  std::printf("%s PASSED\n", name);
  return true;
}
