// Shared by the examples: CUDA errors end the program with a sentence.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(2);
}

/// Prints the verdict every example ends with and returns the exit code.
inline int report(bool isCorrect) {
  std::printf("%s\n", isCorrect ? "PASSED" : "FAILED");
  return isCorrect ? 0 : 1;
}
