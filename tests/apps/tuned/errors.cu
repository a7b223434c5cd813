// Launches that fail, fail in the same way; those behind them run.
#include "common.h"

__global__ void count(int* data, int step) { data[threadIdx.x] += step; }

__global__ void __launch_bounds__(64) bounded(int* data) { data[threadIdx.x] += 1; }

__global__ void fault(int* data, int index) {
  if (index > 0)
    asm volatile("trap;");
  data[0] += 1;
}

namespace {

void tell(const char* what) {
  const cudaError_t peeked = cudaPeekAtLastError(), last = cudaGetLastError();
  std::printf("%s: %s %s\n", what, cudaGetErrorName(peeked), cudaGetErrorName(last));
}

} // namespace

int main() {
  int* data = nullptr;
  expect(cudaMalloc(&data, 1024 * sizeof(int)));
  expect(cudaMemset(data, 0, 1024 * sizeof(int)));
  count<<<1, 32>>>(data, 1);
  tell("fine");
  count<<<1, 2048>>>(data, 2);
  tell("too many threads");
  count<<<dim3(1, 70000), 32>>>(data, 4);
  tell("too many blocks");
  count<<<0, 32>>>(data, 8);
  tell("no blocks");
  count<<<1, 32, 10 << 20>>>(data, 16);
  tell("too much shared memory");
  bounded<<<1, 128>>>(data);
  tell("more threads than promised");
  bounded<<<1, 64>>>(data);
  tell("as many as promised");
  std::printf("free: %s\n", cudaGetErrorName(cudaFree(data + 1)));
  count<<<1, 32>>>(data, 32); // leaves the error as it is
  tell("an error of before");
  expect(cudaDeviceSynchronize());
  say("counted", data, 1024);
  fault<<<1, 1>>>(data, 0);
  expectLaunched();
  fault<<<1, 1>>>(data, 1);
  const cudaError_t status = cudaDeviceSynchronize();
  std::printf("fault: %s\n", cudaGetErrorName(status));
  count<<<1, 32>>>(data, 64);
  tell("behind a fault");
  return 0;
}
