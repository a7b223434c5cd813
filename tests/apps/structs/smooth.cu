// A solver whose kernels take all they know in one structure, as frameworks launch them: two buffers that
// take turns, each with memory of the host beside it, and sizes. With SPLIT the same values are arguments.
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <cuda_runtime.h>

struct Buffer {
  void* owner; // another address in every run
  double* values;
};

struct Extent {
  int count, sweeps;
};

struct Smooth {
  Buffer from, to;
  char kind; // nobody reads it, nor the padding behind
  Extent extent;
  double weight;

  __device__ void operator()(int i) const {
    double value = from.values[i];
    for (int k = 1; k <= extent.sweeps; ++k)
      value = value * weight + from.values[(i + k) % extent.count] * (1 - weight);
    to.values[i] = value;
  }
};

template <typename Body> __device__ void strided(const Body& body, int count, int* blocks) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    *blocks = gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    body(i);
}

template <typename Body> __global__ void forEach(Body body, int* blocks) {
  strided(body, body.extent.count, blocks);
}

__global__ void apart(const double* from, double* to, int count, int sweeps, double weight,
                      int* blocks) {
  strided(Smooth{{nullptr, const_cast<double*>(from)}, {nullptr, to}, 0, {count, sweeps}, weight},
          count, blocks);
}

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 40;
  const int sweeps = argc > 2 ? std::atoi(argv[2]) : 16;
  const int count = 1 << 13;
  Smooth smooth{{std::malloc(64), nullptr}, {std::malloc(64), nullptr}, 'x', {count, sweeps}, 0.25};
  int* blocks = nullptr;
  cudaMallocManaged(&smooth.from.values, count * sizeof(double));
  cudaMallocManaged(&smooth.to.values, count * sizeof(double));
  cudaMallocManaged(&blocks, sizeof(int));
  for (int i = 0; i < count; ++i)
    smooth.from.values[i] = i % 7;
  for (int launch = 0; launch < launches; ++launch) {
    smooth.kind = static_cast<char>(launch);
#ifdef SPLIT
    apart<<<64, 128>>>(smooth.from.values, smooth.to.values, count, sweeps, smooth.weight, blocks);
#else
    forEach<<<64, 128>>>(smooth, blocks);
#endif
    std::swap(smooth.from, smooth.to);
  }
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  std::printf("%.10g, %d blocks\n", smooth.from.values[5], *blocks);
}
