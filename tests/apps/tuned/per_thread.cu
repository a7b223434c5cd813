// Stream 0 is the thread's own: what waits on another thread's does not hold it up, as it would hold
// up the legacy stream.
#include <string_view>
#include <thread>

#include "common.h"

__constant__ int step = 5;

__global__ void advance(int* data, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    data[i] = data[i] * 3 + step;
}

__global__ void waitFor(volatile int* flag) {
  while (*flag == 0) {
  }
}

namespace {

constexpr int count = 5000;

// clang launches <<<>>> on the legacy stream whatever is defined.
void launchAdvance(int* data) {
  int size = count;
  void* arguments[] = {&data, &size};
  expect(cudaLaunchKernel(reinterpret_cast<void*>(advance), dim3(4), dim3(128), arguments, 0,
                          nullptr));
}

void work(int* data) {
  for (int round = 0; round < 10; ++round)
    launchAdvance(data);
  expect(cudaStreamSynchronize(cudaStreamPerThread));
}

bool isCpuDevice() {
  cudaDeviceProp properties;
  expect(cudaGetDeviceProperties(&properties, 0));
  return std::string_view(properties.name).starts_with("CPU");
}

} // namespace

int main() {
  int *mine = nullptr, *theirs = nullptr, *flag = nullptr;
  expect(cudaMalloc(&mine, count * sizeof(int)));
  expect(cudaMalloc(&theirs, count * sizeof(int)));
  expect(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  expect(cudaMemset(mine, 0, count * sizeof(int)));
  expect(cudaMemset(theirs, 1, count * sizeof(int)));
  expect(cudaDeviceSynchronize());
  launchAdvance(mine); // loaded before anything waits
  expect(cudaStreamSynchronize(cudaStreamPerThread));
  *flag = isCpuDevice(); // where a launch returns when its kernel has ended
  waitFor<<<1, 1, 0, cudaStreamPerThread>>>(flag);
  std::thread other(work, theirs);
  other.join();
  *static_cast<volatile int*>(flag) = 1;
  work(mine);
  say("this thread", mine, count);
  say("the other", theirs, count);
  expect(cudaFree(mine));
  expect(cudaFree(theirs));
  expect(cudaFreeHost(flag));
  return finish("per_thread");
}
