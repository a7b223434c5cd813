// examples/vector_add on numbers that do not compress: pseudo-random in [0, 1).
// usage: vector_add_random [elements]
#include <cstdint>
#include <vector>

#include "common.h"

__global__ void vectorAdd(const float* a, const float* b, float* c, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = alpha * a[i] + b[i];
}

static float* uploadRandom(int n, uint32_t state) {
  std::vector<float> values(n);
  for (float& value : values) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    value = static_cast<float>(state >> 8) * 0x1p-24f;
  }
  float* device = nullptr;
  check(cudaMalloc(&device, n * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(device, values.data(), n * sizeof(float), cudaMemcpyHostToDevice), "upload");
  return device;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 20;
  const float* a = uploadRandom(n, 0x9E3779B9u);
  const float* b = uploadRandom(n, 0x7F4A7C15u);
  float* c = uploadRandom(n, 0x2545F491u);
  const int threads = 256;
  vectorAdd<<<(n + threads - 1) / threads, threads>>>(a, b, c, 2.0f, n);
  check(cudaDeviceSynchronize(), "vectorAdd");
  return report(true);
}
