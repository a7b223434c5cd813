// Kernels that read little or all of what they are given; argv[1] says which is launched, argv[2]
// how many MiB `little` is given, and that `stencil` has one block.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

struct Link {
  const Link* next;
  const float* values;
  int count;
};

__global__ void little(const float* big, float* out) {
  const int i = threadIdx.x;
  out[i] = big[3 * 1024 * 1024 + i] * 2.0f;
}

__global__ void gather(const float* big, const int* index, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = big[index[i]];
}

__global__ void everything(const float* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = in[i] + 1.0f;
}

__global__ void chain(const Link* first, float* out) {
  float sum = 0;
  for (const Link* link = first; link != nullptr; link = link->next)
    for (int i = 0; i < link->count; ++i)
      sum += link->values[i];
  *out = sum;
}

__global__ void histogram(const unsigned char* in, unsigned* bins, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    atomicAdd(&bins[in[i]], 1u);
}

template <typename T> __global__ void accumulate(const T* in, T* sums) {
  for (int i = 0; i < 1000; ++i)
    sums[threadIdx.x] += in[i] * T(0.001);
}

template <typename T> __global__ void strided(const T* in, T* out) {
  out[5 * (blockIdx.x * blockDim.x + threadIdx.x)] = in[threadIdx.x];
}

__device__ float table[4096];

__global__ void lookup(float* out) { out[threadIdx.x] = table[1024 + threadIdx.x]; }

__global__ void waits(const int* steps, float* out) {
  float sum = 0;
  for (unsigned i = 0; i != unsigned(*steps); ++i)
    sum = sum * 0.5f + float(i);
  *out = sum;
}

__global__ void unordered(const float* in, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    atomicAdd(sum, in[i]);
}

__global__ void stencil(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
    return;
  const float* at = in + y * width + x;
  out[y * width + x] = 0.25f * (at[-1] + at[1] + at[-width] + at[width]);
}

__global__ void reduction(const int* in, int* sum, int count) {
  __shared__ int part;
  if (threadIdx.x == 0)
    part = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    atomicAdd(&part, in[i]);
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(sum, part);
}

template <typename T> T* make(const std::vector<T>& values) {
  T* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

template <typename T> std::vector<T> numbers(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = T((i * 2654435761u >> 8) % 251 + 2);
  return values;
}

void launchChain(float* out) {
  constexpr int kLinks = 5, kCount = 100;
  Link* links[kLinks];
  for (Link*& link : links)
    cudaMalloc(&link, sizeof(Link) + (1 << 20));
  for (int i = 0; i < kLinks; ++i) {
    float* values = make(numbers<float>(1 << 18));
    const Link link{i + 1 < kLinks ? links[i + 1] : nullptr, values + 1000 * i, kCount};
    cudaMemcpy(links[i], &link, sizeof(link), cudaMemcpyHostToDevice);
  }
  chain<<<1, 1>>>(links[0], out);
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "little";
  const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
  const int count = 1 << 20;
  float* out = make(std::vector<float>(count));
  if (is("little")) {
    const size_t mebibytes = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 64;
    little<<<1, 256>>>(make(numbers<float>(mebibytes << 18)), out);
  } else if (is("gather")) {
    std::vector<int> index(512);
    for (size_t i = 0; i < index.size(); ++i)
      index[i] = int(i % 16) * 250'000 + int(i);
    gather<<<2, 256>>>(make(numbers<float>(4 << 20)), make(index), out, 512);
  } else if (is("everything")) {
    everything<<<count / 256, 256>>>(make(numbers<float>(count)), out, count);
  } else if (is("chain")) {
    launchChain(out);
  } else if (is("histogram")) {
    histogram<<<16, 256>>>(make(numbers<unsigned char>(4 << 20)), make(std::vector<unsigned>(256)),
                           4096);
  } else if (is("unordered")) {
    std::vector<float> values(1 << 16);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 1.0f / float(i + 1);
    unordered<<<256, 256>>>(make(values), out, 1 << 16);
  } else if (is("accumulate")) {
    accumulate<<<1, 64>>>(make(numbers<float>(count)), out);
  } else if (is("accumulate doubles")) {
    accumulate<<<1, 64>>>(make(numbers<double>(count)), make(std::vector<double>(count)));
  } else if (is("strided")) {
    strided<<<64, 256>>>(make(numbers<unsigned char>(count)), make(numbers<unsigned char>(count)));
  } else if (is("lookup")) {
    const std::vector<float> values = numbers<float>(4096);
    cudaMemcpyToSymbol(table, values.data(), sizeof(table));
    lookup<<<1, 64>>>(out);
  } else if (is("waits")) {
    waits<<<1, 1>>>(make(std::vector<int>(count, 10)), out);
  } else if (is("stencil")) {
    const dim3 grid = argc > 2 ? dim3(1) : dim3(32, 64), block(32, 16);
    stencil<<<grid, block>>>(make(numbers<float>(count)), out, 1024, 1024);
  } else {
    reduction<<<256, 256>>>(make(numbers<int>(1 << 16)), make(std::vector<int>(1)), 1 << 16);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
