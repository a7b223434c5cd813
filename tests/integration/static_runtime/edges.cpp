// A library without kernels, built with the headers of one CUDA: functions that differ between two.
#include <cstddef>

#include <cuda_runtime.h>

extern "C" int version() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess ? version / 1000 : -1;
}

extern "C" int capability() {
  cudaDeviceProp properties{};
  return cudaGetDeviceProperties(&properties, 0) == cudaSuccess ? properties.major : -1;
}

/// A graph of two nodes has one edge.
extern "C" int edges() {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr, from = nullptr, to = nullptr;
  size_t count = 1;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddEmptyNode(&first, graph, nullptr, 0);
  cudaGraphAddEmptyNode(&second, graph, nullptr, 0);
#if CUDART_VERSION >= 13000
  cudaGraphAddDependencies(graph, &first, &second, nullptr, 1);
  const cudaError_t status = cudaGraphGetEdges(graph, &from, &to, nullptr, &count);
#else
  cudaGraphAddDependencies(graph, &first, &second, 1);
  const cudaError_t status = cudaGraphGetEdges(graph, &from, &to, &count);
#endif
  return status == cudaSuccess && from == first && to == second ? static_cast<int>(count) : -1;
}
