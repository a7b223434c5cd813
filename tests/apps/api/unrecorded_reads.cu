// Kernels that read what no recording holds: a clock, where they run, a texture.
#include "check.h"

constexpr unsigned kBlocks = 8, kThreads = 64, kCount = kBlocks * kThreads;

__device__ unsigned place() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void stamps(long long* out) { out[place()] = clock64(); }

// What it leaves is the same however long it takes.
__global__ void timed(const float* in, float* out) {
  const long long begin = clock64();
  out[place()] = 2 * in[place()];
  if (clock64() < begin)
    out[place()] = 0;
}

__global__ void places(unsigned* out) {
  unsigned multiprocessor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  out[place()] = multiprocessor;
}

__global__ void sampled(cudaTextureObject_t texture, float* out) {
  out[place()] = tex1Dfetch<float>(texture, place());
}

__global__ void plain(const float* in, float* out) { out[place()] = 3 * in[place()]; }

int main() {
  long long* ticks = nullptr;
  float *in = nullptr, *out = nullptr;
  unsigned* numbers = nullptr;
  expect(cudaMalloc(&ticks, kCount * sizeof(long long)));
  expect(cudaMalloc(&in, kCount * sizeof(float)));
  expect(cudaMalloc(&out, kCount * sizeof(float)));
  expect(cudaMalloc(&numbers, kCount * sizeof(unsigned)));
  float values[kCount], results[kCount];
  for (unsigned i = 0; i < kCount; ++i)
    values[i] = static_cast<float>(i % 13);
  expect(cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice));

  stamps<<<kBlocks, kThreads>>>(ticks);
  places<<<kBlocks, kThreads>>>(numbers);
  expectLaunched();
  timed<<<kBlocks, kThreads>>>(in, out);
  expect(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
  check(results[14] == 2, "timed");

  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = in;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = kCount * sizeof(float);
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  expect(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  sampled<<<kBlocks, kThreads>>>(texture, out);
  expect(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
  check(results[14] == 1, "sampled");
  plain<<<kBlocks, kThreads>>>(in, out);
  expect(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
  check(results[14] == 3, "plain");
  return finish("unrecorded_reads");
}
