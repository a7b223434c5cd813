// Launches of one kernel, each with another grid, under what the program prefers of the L1 cache:
// of the kernel, or else of the context.
#include "common.h"

int main() {
  constexpr int count = 1024;
  int *in, *out;
  expect(cudaMalloc(&in, count * sizeof(int)));
  expect(cudaMalloc(&out, count * sizeof(int)));
  expect(cudaMemset(in, 1, count * sizeof(int)));
  const auto launch = [&](int blocks) {
    scale<<<blocks, 128>>>(in, out, count, 3);
    expect(cudaDeviceSynchronize());
  };
  launch(1);
  expect(cudaFuncSetCacheConfig(scale, cudaFuncCachePreferL1));
  launch(2);
  expect(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  launch(3);
  expect(cudaFuncSetCacheConfig(scale, cudaFuncCachePreferNone));
  launch(4);
  say("scaled", download(out, count));
}
