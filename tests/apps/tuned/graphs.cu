// Launches captured into a graph, the first of each kernel too; the graph runs with the values that
// variables have then.
#include "common.h"

__constant__ int weights[4] = {3, 1, 4, 1};
__device__ int offset = 11;

__global__ void mix(const int* in, int* out, int count, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = in[i] * factor + weights[i % 4] + offset;
}

__global__ void advance(int by) { offset += by; }

int main() {
  constexpr int count = 2000;
  int *first = nullptr, *second = nullptr;
  expect(cudaMalloc(&first, count * sizeof(int)));
  expect(cudaMalloc(&second, count * sizeof(int)));
  expect(cudaMemset(first, 1, count * sizeof(int)));
  cudaStream_t stream;
  expect(cudaStreamCreate(&stream));
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed}) {
    expect(cudaStreamBeginCapture(stream, mode));
    mix<<<16, 128, 0, stream>>>(first, second, count, 5);
    advance<<<1, 1, 0, stream>>>(2);
    mix<<<16, 128, 0, stream>>>(second, first, count, 7);
    cudaGraph_t graph;
    expect(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t runnable;
    expect(cudaGraphInstantiate(&runnable, graph, 0));
    for (int round = 0; round < 3; ++round) {
      expect(cudaGraphLaunch(runnable, stream));
      const int weight = round * 100 + mode;
      expect(cudaMemcpyToSymbolAsync(weights, &weight, sizeof weight, 4, cudaMemcpyHostToDevice,
                                     stream));
    }
    expect(cudaStreamSynchronize(stream));
    say("graph", first, count);
    expect(cudaGraphExecDestroy(runnable));
    expect(cudaGraphDestroy(graph));
  }
  mix<<<16, 128, 0, stream>>>(first, second, count, 5);
  advance<<<1, 1, 0, stream>>>(3);
  mix<<<16, 128, 0, stream>>>(second, first, count, 7);
  expect(cudaStreamSynchronize(stream));
  say("launched", first, count);
  expect(cudaStreamDestroy(stream));
  expect(cudaFree(first));
  expect(cudaFree(second));
  return finish("graphs");
}
