// A column model of weather, written as such code is: locals that only some layers set, and a table
// per thread of which a part is filled. What is unset is read, and multiplied by a weight of zero.
#include <cstdio>
#include <cstdlib>

#include "common.h"

constexpr int kLayers = 24;

__global__ void columnPhysics(float* state, const float* forcing, int columns, float step) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns)
    return;
  float flux[kLayers + 1];
  float cloud;
  for (int layer = 0; layer < kLayers; ++layer) {
    const float t = state[layer * columns + column];
    float melt;
    if (t > 0.5f) {
      melt = t * 0.1f;
      cloud = melt;
    }
    flux[layer + 1] = melt * 0.5f + cloud * forcing[column];
  }
  for (int layer = 0; layer < kLayers; ++layer)
    state[layer * columns + column] += step * (flux[layer + 1] - flux[layer]);
}

int main(int argc, char** argv) {
  const int columns = argc > 1 ? std::atoi(argv[1]) : 1 << 14;
  const size_t count = static_cast<size_t>(columns) * kLayers;
  float *state = nullptr, *forcing = nullptr;
  check(cudaMallocManaged(&state, count * sizeof(float)), "cudaMallocManaged");
  check(cudaMallocManaged(&forcing, columns * sizeof(float)), "cudaMallocManaged");
  for (size_t i = 0; i < count; ++i)
    state[i] = static_cast<float>(i % 97) / 97;
  for (int i = 0; i < columns; ++i)
    forcing[i] = static_cast<float>(i % 13) / 13;
  for (int step = 0; step < 4; ++step)
    columnPhysics<<<(columns + 127) / 128, 128>>>(state, forcing, columns, 0.01f);
  check(cudaDeviceSynchronize(), "the kernel");
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += state[i];
  std::printf("sum %.6f\n", sum);
  return 0;
}
