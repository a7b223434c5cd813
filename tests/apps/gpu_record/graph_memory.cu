// Memory that graphs allocate, read and changed by kernels that are launched outside of them.
#include "common.h"

__global__ void fill(int* values, int count, int first, int factor) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    values[i] = first + i * factor;
}

/// Knows the values by a pointer in memory only.
__global__ void total(int** place, int count, int* out) {
  int sum = 0;
  for (int i = 0; i < count; ++i)
    sum = sum * 3 + (*place)[i];
  (*place)[1] += 7;
  *out = sum;
}

__global__ void leave(int** place, int* values) { *place = values; }

namespace {

constexpr int kCount = 3000;

/// A graph whose node allocates memory that another one fills.
cudaGraph_t madeByHand(int*& memory, int factor) {
  cudaGraph_t graph;
  cudaGraphNode_t allocation;
  expect(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams wanted{};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location.type = cudaMemLocationTypeDevice;
  wanted.bytesize = kCount * sizeof(int);
  expect(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &wanted));
  memory = static_cast<int*>(wanted.dptr);
  int count = kCount, first = 5;
  void* arguments[] = {&memory, &count, &first, &factor};
  graphs::addKernel(graph, {allocation}, reinterpret_cast<void*>(fill), arguments, 4);
  return graph;
}

} // namespace

int main() {
  const cudaStream_t stream = graphs::newStream();
  int *out = nullptr, *byHand = nullptr, *captured = nullptr;
  int** place = nullptr;
  expect(cudaMalloc(&out, kCount * sizeof(int)));
  expect(cudaMalloc(&place, sizeof(int*)));

  cudaGraph_t graph = madeByHand(byHand, 11), second;
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  expect(cudaMallocAsync(reinterpret_cast<void**>(&captured), kCount * sizeof(int), stream));
  fill<<<4, 128, 0, stream>>>(captured, kCount, 2, 3);
  expect(cudaStreamEndCapture(stream, &second));
  cudaGraphExec_t runnable, secondRunnable;
  expect(cudaGraphInstantiateWithFlags(&runnable, graph, 0));
  expect(cudaGraphInstantiateWithFlags(&secondRunnable, second, 0));

  for (int round = 0; round < 2; ++round) {
    expect(cudaGraphLaunch(runnable, stream));
    expect(cudaGraphLaunch(secondRunnable, stream));
    scale<<<4, 128, 0, stream>>>(byHand, out, kCount, 13 + round);
    expect(cudaStreamSynchronize(stream));
    say("made by hand", download(out, kCount));
    scale<<<4, 128, 0, stream>>>(byHand, captured, kCount, 17 + round);
    expect(cudaStreamSynchronize(stream));
    say("captured", download(captured, kCount));
    leave<<<1, 1, 0, stream>>>(place, round ? byHand : captured);
    total<<<1, 1, 0, stream>>>(place, kCount - round, out);
    expect(cudaStreamSynchronize(stream));
    say("through a pointer", download(out, 1));
    expect(cudaFree(byHand));
    expect(cudaFreeAsync(captured, stream));
    expect(cudaStreamSynchronize(stream));
  }
  // What is freed is nobody's: a pointer to it that is not followed does no harm.
  leave<<<1, 1, 0, stream>>>(place, nullptr);
  scale<<<4, 128, 0, stream>>>(out, out, 1, 3);
  expect(cudaStreamSynchronize(stream));
  say("after", download(out, 1));

  expect(cudaGraphExecDestroy(runnable));
  expect(cudaGraphExecDestroy(secondRunnable));
  expect(cudaGraphDestroy(graph));
  expect(cudaGraphDestroy(second));
  expect(cudaStreamDestroy(stream));
  expect(cudaFree(out));
  expect(cudaFree(place));
  return finish("graph_memory");
}
