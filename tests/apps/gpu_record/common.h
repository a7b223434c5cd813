// For the programs in this directory: what they have in common beside ../api/check.h. Each prints
// the same text whether it is recorded or not, on every device.
#pragma once

#include <cstring>
#include <vector>

#include "../api/check.h"

/// out[i] = in[i] * factor + i, over any number of threads.
__global__ static void scale(const int* in, int* out, int count, int factor) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    out[i] = in[i] * factor + i;
}

inline unsigned sumOf(const std::vector<int>& values) {
  unsigned sum = 0;
  for (const int value : values)
    sum = sum * 31 + static_cast<unsigned>(value);
  return sum;
}

inline std::vector<int> download(const int* device, int count) {
  std::vector<int> host(count);
  expect(cudaMemcpy(host.data(), device, count * sizeof(int), cudaMemcpyDefault));
  return host;
}

inline void say(const char* what, const std::vector<int>& values) {
  std::printf("%s: %u\n", what, sumOf(values));
}

/// For programs with graphs.
namespace graphs {

inline cudaStream_t newStream() {
  cudaStream_t stream;
  expect(cudaStreamCreate(&stream));
  return stream;
}

inline void begin(cudaStream_t stream) {
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
}

inline cudaGraph_t end(cudaStream_t stream) {
  cudaGraph_t graph;
  expect(cudaStreamEndCapture(stream, &graph));
  return graph;
}

inline void run(cudaGraphExec_t exec, cudaStream_t stream) {
  expect(cudaGraphLaunch(exec, stream));
  expect(cudaStreamSynchronize(stream));
}

inline cudaGraphNode_t addKernel(cudaGraph_t graph, const std::vector<cudaGraphNode_t>& after,
                                 void* function, void** arguments, int blocks = 8,
                                 int threads = 128) {
  cudaKernelNodeParams params{};
  params.func = function;
  params.gridDim = dim3(blocks);
  params.blockDim = dim3(threads);
  params.kernelParams = arguments;
  cudaGraphNode_t node;
  expect(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}

} // namespace graphs
