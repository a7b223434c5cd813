// For the programs in this directory, beside ../api/check.h. What they print depends on every
// launch, and is the same whichever of their kernels are tuned.
#pragma once

#include <vector>

#include "../api/check.h"

inline unsigned sumOf(const std::vector<int>& values) {
  unsigned sum = 0;
  for (const int value : values)
    sum = sum * 31 + static_cast<unsigned>(value);
  return sum;
}

inline void say(const char* what, const int* device, int count) {
  std::vector<int> host(count);
  expect(cudaMemcpy(host.data(), device, count * sizeof(int), cudaMemcpyDefault));
  std::printf("%s: %u\n", what, sumOf(host));
}
