// A kernel that prints and then fails in the way the argument names. Nothing prints beside the
// failing thread: whether such a line still comes out is chance, recorded or not.
#include <cstring>

#include "common.h"

enum Failure { kNone, kTrap, kAddress };

__global__ void talk(int* data, Failure failure) {
  if (threadIdx.x < 3)
    printf("before %d\n", threadIdx.x);
  data[threadIdx.x] = 7;
  __syncthreads();
  if (threadIdx.x != 33)
    return;
  printf("the last line, %s %5.2f %c %lld\n", "text", 2.5, 'z', 1ll << 40);
  if (failure == kTrap)
    __trap();
  if (failure == kAddress)
    *reinterpret_cast<volatile int*>(8) = 1;
}

int main(int argc, char** argv) {
  Failure failure = kNone;
  if (argc > 1)
    failure = std::strcmp(argv[1], "trap") == 0 ? kTrap : kAddress;
  int* data = nullptr;
  expect(cudaMalloc(&data, 64 * sizeof(int)));
  for (const Failure next : {kNone, failure}) {
    std::fflush(stdout);
    talk<<<1, 64>>>(data, next);
    const cudaError_t status = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorName(status));
  }
  std::printf("last: %s\n", cudaGetErrorName(cudaGetLastError()));
}
