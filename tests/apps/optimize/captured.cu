// A program whose launches are all captured into a graph.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void add(int* values, int count, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] += by * i;
}

int main() {
  const int count = 20000;
  int* values = nullptr;
  cudaMalloc(&values, count * sizeof(int));
  cudaMemset(values, 0, count * sizeof(int));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  for (int by = 0; by < 4; ++by)
    add<<<(count + 255) / 256, 256, 0, stream>>>(values, count, by);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  for (int step = 0; step < 50; ++step)
    cudaGraphLaunch(ready, stream);
  cudaStreamSynchronize(stream);
  int third = 0;
  cudaMemcpy(&third, values + 3, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", third);
  return cudaGetLastError() != cudaSuccess;
}
