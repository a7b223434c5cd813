// A kernel that reads before the first allocation of its program, or far behind the last one, and
// throws the value away: alone it finds memory of the vendor's there.
#include "common.h"

namespace {

constexpr int kCount = 1024;

/// Each element with its neighbour `distance` away, but at the edges with itself.
__global__ void smooth(const float* in, float* out, int distance) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float beside = in[i + distance];
  const bool isInside = i + distance >= 0 && i + distance < kCount;
  out[i] = (in[i] + (isInside ? beside : in[i])) / 2;
}

int wrongOf(const std::vector<float>& in, const std::vector<float>& out, int distance) {
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    const bool isInside = i + distance >= 0 && i + distance < kCount;
    wrong += out[i] != (in[i] + in[isInside ? i + distance : i]) / 2;
  }
  return wrong;
}

void run(const float* in, float* out, const std::vector<float>& host, int distance) {
  std::vector<float> result(kCount);
  smooth<<<kCount / 256, 256>>>(in, out, distance);
  expectLaunched();
  expect(cudaMemcpy(result.data(), out, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("%d away: %d wrong\n", distance, wrongOf(host, result, distance));
}

} // namespace

int main() {
  float *first = nullptr, *last = nullptr;
  std::vector<float> host(kCount);
  for (int i = 0; i < kCount; ++i)
    host[i] = static_cast<float>(i);
  expect(cudaMalloc(&first, kCount * sizeof(float)));
  expect(cudaMalloc(&last, kCount * sizeof(float)));
  for (float* one : {first, last})
    expect(cudaMemcpy(one, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  for (const int distance : {-1, -128, -20'000})
    run(first, last, host, distance);
  for (const int distance : {1, 300, 20'000})
    run(last, first, host, distance);
}
