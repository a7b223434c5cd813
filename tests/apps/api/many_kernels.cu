// Fifty kernels over forty buffers, each launch with two others of them: what a snapshot holds was
// stored with launches of many other kernels. The host computes the same.
#include <vector>

#include "check.h"

constexpr int kKernels = 50;
constexpr int kBuffers = 40;
constexpr int kRounds = 8;
constexpr int kCount = 1 << 15;

__host__ __device__ int mixed(int kernel, int target, int source) {
  return target * 3 + source + kernel;
}

template <int Kernel> __global__ void mix(int* target, const int* source, int round) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount && i / 4096 == (Kernel + round) % 8) // a part, so that the rest stays as it was
    target[i] = mixed(Kernel, target[i], source[kCount - 1 - i]);
}

struct Choice {
  int target, source;
};

Choice choose(int kernel, int round) {
  const int target = (round * 13 + kernel * 5) % kBuffers;
  return {target, (target + 1 + (round * 31 + kernel * 3) % (kBuffers - 1)) % kBuffers};
}

using Values = std::vector<std::vector<int>>;

void mixOnHost(Values& values, int kernel, int round) {
  const Choice buffers = choose(kernel, round);
  for (int i = 0; i < kCount; ++i)
    if (i / 4096 == (kernel + round) % 8)
      values[buffers.target][i] =
          mixed(kernel, values[buffers.target][i], values[buffers.source][kCount - 1 - i]);
}

template <int Kernel = 0> void launchAll(const std::vector<int*>& device, int round) {
  const Choice buffers = choose(Kernel, round);
  mix<Kernel><<<kCount / 256, 256>>>(device[buffers.target], device[buffers.source], round);
  if constexpr (Kernel + 1 < kKernels)
    launchAll<Kernel + 1>(device, round);
}

int main() {
  std::vector<int*> device(kBuffers);
  Values values(kBuffers, std::vector<int>(kCount));
  for (int buffer = 0; buffer < kBuffers; ++buffer) {
    for (int i = 0; i < kCount; ++i)
      values[buffer][i] = buffer * kCount + i;
    expect(cudaMalloc(reinterpret_cast<void**>(&device[buffer]), kCount * sizeof(int)));
    expect(cudaMemcpy(device[buffer], values[buffer].data(), kCount * sizeof(int),
                      cudaMemcpyHostToDevice));
  }
  for (int round = 0; round < kRounds; ++round) {
    launchAll(device, round);
    for (int kernel = 0; kernel < kKernels; ++kernel)
      mixOnHost(values, kernel, round);
  }
  expectLaunched();
  std::vector<int> result(kCount);
  for (int buffer = 0; buffer < kBuffers; ++buffer) {
    expect(cudaMemcpy(result.data(), device[buffer], kCount * sizeof(int), cudaMemcpyDeviceToHost));
    check(result == values[buffer], "a buffer holds what the host computes");
  }
  return finish("many_kernels");
}
