// A graph with a conditional node between two kernels: its body runs unless something says
// otherwise.
#include "common.h"

#include <cstdlib>

__global__ void step(int* values, int count, int factor, int added) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] = values[i] * factor + added;
}

__global__ void inside(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] ^= i * 77;
}

__global__ void deeper(int* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] += i;
}

namespace {

constexpr int kCount = 1000;

cudaGraphNode_t addKernel(cudaGraph_t graph, std::vector<cudaGraphNode_t> after, void* function,
                          void** arguments) {
  cudaKernelNodeParams params{};
  params.func = function;
  params.gridDim = dim3(8);
  params.blockDim = dim3(128);
  params.kernelParams = arguments;
  cudaGraphNode_t node;
  expect(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}

/// Returns the node; `body` is what runs in it.
cudaGraphNode_t addCondition(cudaGraph_t whole, cudaGraph_t graph, cudaGraphNode_t after,
                             cudaGraph_t& body) {
  cudaGraphConditionalHandle handle;
  expect(cudaGraphConditionalHandleCreate(&handle, whole, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
  expect(cudaGraphAddNode(&node, graph, &after, nullptr, 1, &params));
#else
  expect(cudaGraphAddNode(&node, graph, &after, 1, &params));
#endif
  if (!params.conditional.phGraph_out)
    std::exit(finish("graph_conditions"));
  body = params.conditional.phGraph_out[0];
  return node;
}

} // namespace

int main() {
  int* values = nullptr;
  expect(cudaMalloc(&values, kCount * sizeof(int)));
  expect(cudaMemset(values, 3, kCount * sizeof(int)));
  cudaStream_t stream;
  expect(cudaStreamCreate(&stream));
  cudaGraph_t graph, body, deepest;
  expect(cudaGraphCreate(&graph, 0));
  int count = kCount, factor = 3, added = 1;
  void* arguments[] = {&values, &count, &factor, &added};
  const cudaGraphNode_t before = addKernel(graph, {}, reinterpret_cast<void*>(step), arguments);
  const cudaGraphNode_t condition = addCondition(graph, graph, before, body);
  const cudaGraphNode_t first = addKernel(body, {}, reinterpret_cast<void*>(inside), arguments);
  addCondition(graph, body, first, deepest);
  addKernel(deepest, {}, reinterpret_cast<void*>(deeper), arguments);
  factor = 5;
  addKernel(graph, {condition}, reinterpret_cast<void*>(step), arguments);
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (int round = 0; round < 2; ++round) {
    expect(cudaGraphLaunch(exec, stream));
    expect(cudaStreamSynchronize(stream));
    say("conditions", download(values, kCount));
  }
  step<<<8, 128, 0, stream>>>(values, count, 7, 2);
  say("after", download(values, kCount));
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
  return finish("graph_conditions");
}
