// Launches captured into a graph run when the graph does.
#include "common.h"

int main() {
  constexpr int count = 2000;
  int *first = nullptr, *second = nullptr;
  expect(cudaMalloc(&first, count * sizeof(int)));
  expect(cudaMalloc(&second, count * sizeof(int)));
  expect(cudaMemset(first, 1, count * sizeof(int)));
  cudaStream_t stream;
  expect(cudaStreamCreate(&stream));
  scale<<<4, 128, 0, stream>>>(first, second, count, 3);
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  scale<<<4, 128, 0, stream>>>(second, first, count, 5);
  scale<<<4, 128, 0, stream>>>(first, second, count, 7);
  cudaGraph_t graph;
  expect(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t runnable;
  expect(cudaGraphInstantiate(&runnable, graph, 0));
  for (int round = 0; round < 3; ++round)
    expect(cudaGraphLaunch(runnable, stream));
  scale<<<4, 128, 0, stream>>>(first, second, count - 1, 11);
  expect(cudaStreamSynchronize(stream));
  say("graph", download(second, count));
  expect(cudaGraphExecDestroy(runnable));
  expect(cudaGraphDestroy(graph));
  expect(cudaStreamDestroy(stream));
  expect(cudaFree(first));
  expect(cudaFree(second));
  return finish("graphs");
}
