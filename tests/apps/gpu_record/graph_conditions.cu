// A graph with a conditional node between two kernels, whose body runs; and one in which a kernel
// says whether it does, among a fill, a host function and a copy, and which is destroyed before it
// is launched.
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

__global__ void choose(cudaGraphConditionalHandle handle, const int* values, int limit) {
  cudaGraphSetConditional(handle, values[1] < limit);
}

using namespace graphs;

namespace {

constexpr int kCount = 1000;

cudaGraphConditionalHandle makeHandle(cudaGraph_t whole) {
  cudaGraphConditionalHandle handle;
  expect(cudaGraphConditionalHandleCreate(&handle, whole, 1, cudaGraphCondAssignDefault));
  return handle;
}

/// Returns the node; `body` is what runs in it.
cudaGraphNode_t addCondition(cudaGraphConditionalHandle handle, cudaGraph_t graph,
                             cudaGraphNode_t after, cudaGraph_t& body) {
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

void CUDART_CB countCall(void* calls) { ++*static_cast<int*>(calls); }

/// The body runs, as the fill comes before the kernel that chooses.
void chooseInGraph(int* values, cudaStream_t stream) {
  int* copied = nullptr;
  expect(cudaMalloc(&copied, kCount * sizeof(int)));
  cudaGraph_t graph, body;
  expect(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill{};
  fill.dst = copied;
  fill.elementSize = 4;
  fill.width = kCount / 2;
  fill.height = 1;
  fill.pitch = fill.width * 4;
  fill.value = 7;
  cudaGraphNode_t filled, called, last;
  expect(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  int size = kCount, factor = 9, added = 4, limit = 8, calls = 0;
  void* arguments[] = {&values, &size, &factor, &added};
  const cudaGraphNode_t before =
      addKernel(graph, {filled}, reinterpret_cast<void*>(step), arguments);
  cudaGraphConditionalHandle handle = makeHandle(graph);
  void* choosing[] = {&handle, &copied, &limit};
  const cudaGraphNode_t chosen =
      addKernel(graph, {before}, reinterpret_cast<void*>(choose), choosing, 1, 1);
  const cudaGraphNode_t condition = addCondition(handle, graph, chosen, body);
  addKernel(body, {}, reinterpret_cast<void*>(inside), arguments);
  factor = 11;
  const cudaGraphNode_t middle =
      addKernel(graph, {condition}, reinterpret_cast<void*>(step), arguments);
  cudaHostNodeParams host{};
  host.fn = countCall;
  host.userData = &calls;
  expect(cudaGraphAddHostNode(&called, graph, &middle, 1, &host));
  factor = 13;
  const cudaGraphNode_t after =
      addKernel(graph, {called}, reinterpret_cast<void*>(step), arguments);
  expect(cudaGraphAddMemcpyNode1D(&last, graph, &after, 1, copied, values, kCount * sizeof(int),
                                  cudaMemcpyDeviceToDevice));
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  expect(cudaGraphDestroy(graph));
  for (int round = 0; round < 2; ++round) {
    run(exec, stream);
    say("chosen", download(values, kCount));
    say("copied", download(copied, kCount));
  }
  std::printf("called %d times\n", calls);
  expect(cudaGraphExecDestroy(exec));
}

} // namespace

int main() {
  int* values = nullptr;
  expect(cudaMalloc(&values, kCount * sizeof(int)));
  expect(cudaMemset(values, 3, kCount * sizeof(int)));
  const cudaStream_t stream = newStream();
  cudaGraph_t graph, body, deepest;
  expect(cudaGraphCreate(&graph, 0));
  int count = kCount, factor = 3, added = 1;
  void* arguments[] = {&values, &count, &factor, &added};
  const cudaGraphNode_t before = addKernel(graph, {}, reinterpret_cast<void*>(step), arguments);
  const cudaGraphNode_t condition = addCondition(makeHandle(graph), graph, before, body);
  const cudaGraphNode_t first = addKernel(body, {}, reinterpret_cast<void*>(inside), arguments);
  addCondition(makeHandle(graph), body, first, deepest);
  addKernel(deepest, {}, reinterpret_cast<void*>(deeper), arguments);
  factor = 5;
  addKernel(graph, {condition}, reinterpret_cast<void*>(step), arguments);
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (int round = 0; round < 2; ++round) {
    run(exec, stream);
    say("conditions", download(values, kCount));
  }
  step<<<8, 128, 0, stream>>>(values, count, 7, 2);
  say("after", download(values, kCount));
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
  chooseInGraph(values, stream);
  return finish("graph_conditions");
}
