// Instances of kernel templates, kernels of one name in two namespaces, aggregates by value.
#include "common.h"

template <typename T, int Width> __global__ void fill(T* out, int count, T value) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    out[i] = static_cast<T>(i / Width) + value;
}

namespace {
__global__ void twin(int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = out[i] * 3 + 1;
}
} // namespace

namespace other {
__global__ void twin(int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = out[i] * 5 + 2;
}
} // namespace other

struct Job {
  const int* in;
  int* out;
  int count;
  short shift;
  bool isReversed;
};

__global__ void run(Job job, double factor, char last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= job.count)
    return;
  const int from = job.isReversed ? job.count - 1 - i : i;
  job.out[i] = static_cast<int>(job.in[from] * factor) + job.shift + last;
}

int main() {
  constexpr int count = 1000;
  int *first = nullptr, *second = nullptr;
  expect(cudaMalloc(&first, count * sizeof(int)));
  expect(cudaMalloc(&second, count * sizeof(int)));
  for (int round = 0; round < 3; ++round) {
    fill<int, 4><<<8, 64>>>(first, count, round);
    say("fill<int, 4>", first, count);
    fill<float, 8><<<8, 64>>>(reinterpret_cast<float*>(second), count, 0.25f * round);
    say("fill<float, 8>", second, count);
    fill<unsigned, 16><<<4, 128>>>(reinterpret_cast<unsigned*>(second), count, 7u);
    say("fill<unsigned, 16>", second, count);
    twin<<<8, 128>>>(first, count);
    other::twin<<<8, 128>>>(first, count);
    say("twins", first, count);
    run<<<8, 128>>>({first, second, count, static_cast<short>(round - 1), round == 1}, 0.5, 'x');
    expectLaunched();
    say("run", second, count);
  }
  expect(cudaFree(first));
  expect(cudaFree(second));
  return finish("templates");
}
