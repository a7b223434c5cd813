// Shortest paths between all pairs of vertices (Floyd and Warshall), in CUDA that is compiled for
// the graph at hand: the number of vertices is a macro, so that the compiler knows every stride.
// usage: floyd_warshall [vertices]
#include <algorithm>
#include <string>
#include <vector>

#include "../common.h"

#include <proteus/CppJitModule.h>

static const char* const kSource = R"cuda(
extern "C" __global__ void relax(int* distance, int via) {
  const int to = blockIdx.x * blockDim.x + threadIdx.x;
  const int from = blockIdx.y * blockDim.y + threadIdx.y;
  if (from >= VERTICES || to >= VERTICES)
    return;
  const int detour = distance[from * VERTICES + via] + distance[via * VERTICES + to];
  if (detour < distance[from * VERTICES + to])
    distance[from * VERTICES + to] = detour;
}
)cuda";

constexpr int kNoEdge = 1 << 29; // two of them are still an int

/// Weights of a graph with edges in a ring and some across.
static std::vector<int> makeGraph(int vertices) {
  std::vector<int> weights(vertices * vertices, kNoEdge);
  unsigned random = 7;
  for (int from = 0; from < vertices; ++from) {
    weights[from * vertices + from] = 0;
    weights[from * vertices + (from + 1) % vertices] = 10;
    for (int edge = 0; edge < 3; ++edge) {
      random = random * 1664525 + 1013904223;
      const int to = (random >> 8) % vertices;
      if (to != from)
        weights[from * vertices + to] = 1 + (random >> 20) % 100;
    }
  }
  return weights;
}

int main(int argc, char** argv) {
  const int vertices = argc > 1 ? std::atoi(argv[1]) : 96;
  std::vector<int> distance = makeGraph(vertices);
  std::vector<int> expected = distance;
  for (int via = 0; via < vertices; ++via)
    for (int from = 0; from < vertices; ++from)
      for (int to = 0; to < vertices; ++to)
        expected[from * vertices + to] =
            std::min(expected[from * vertices + to],
                     expected[from * vertices + via] + expected[via * vertices + to]);

  const size_t bytes = distance.size() * sizeof(int);
  int* device = nullptr;
  check(cudaMalloc(&device, bytes), "cudaMalloc");
  check(cudaMemcpy(device, distance.data(), bytes, cudaMemcpyHostToDevice), "copy to the device");

  proteus::CppJitModule module("cuda", kSource, {"-DVERTICES=" + std::to_string(vertices)});
  auto relax = module.getKernel<void(int*, int)>("relax");
  const int side = 16, blocks = (vertices + side - 1) / side;
  for (int via = 0; via < vertices; ++via)
    check(relax.launch({blocks, blocks}, {side, side}, 0, nullptr, device, via), "launch relax");
  check(cudaMemcpy(distance.data(), device, bytes, cudaMemcpyDeviceToHost), "copy from the device");
  cudaFree(device);

  std::printf("floyd_warshall: %d vertices, %d from 0 to %d, at most %d\n", vertices,
              distance[vertices / 2], vertices / 2,
              *std::max_element(distance.begin(), distance.end()));
  return report(distance == expected);
}
