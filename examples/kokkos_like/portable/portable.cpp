#include "portable.h"

#include <cstdio>
#include <cstdlib>

#include <cuda.h>

namespace portable {
namespace {

constexpr unsigned kLocks = 4096;
Space space;

__global__ void init_lock_array(unsigned* locks, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    locks[i] = 0;
}

} // namespace

void initialize() {
  int version = 0;
  if (cuDriverGetVersion(&version) != CUDA_SUCCESS || version == 0) {
    std::fprintf(stderr, "portable: there is no driver\n");
    std::exit(2);
  }
  cudaMalloc(&space.locks, kLocks * sizeof(unsigned));
  init_lock_array<<<(kLocks + 255) / 256, 256>>>(space.locks, kLocks);
  fence();
}

void finalize() { cudaFree(space.locks); }

const Space& default_space() { return space; }

void fence() {
  const cudaError_t status = cudaDeviceSynchronize();
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "portable: %s\n", cudaGetErrorString(status));
  std::exit(2);
}

} // namespace portable
