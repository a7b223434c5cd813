// Graphs made of captured launches, which the program asks about and changes: what it is told is
// what it has launched, and what it sets is what runs.
#include "common.h"

// With mode 0 any dimensions do; else every block of 256 threads adds up what it has.
__global__ void work(const int* in, int* out, int mode, int count) {
  __shared__ int sum;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (mode == 0) {
    if (i < count)
      out[i] = in[i] * 3 + 1;
    return;
  }
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  if (i < count)
    atomicAdd(&sum, in[i] * mode);
  __syncthreads();
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum;
}

namespace {

constexpr int kCount = 1 << 14, kBlock = 256;

struct Work {
  const int* in;
  int* out;
  int mode = 0;
  int count = kCount;
  void* arguments[4] = {&in, &out, &mode, &count};
};

cudaGraph_t capture(cudaStream_t stream, const Work& work) {
  cudaGraph_t graph;
  expect(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ::work<<<kCount / kBlock, kBlock, 0, stream>>>(work.in, work.out, work.mode, work.count);
  expect(cudaStreamEndCapture(stream, &graph));
  return graph;
}

cudaGraphNode_t onlyNode(cudaGraph_t graph) {
  cudaGraphNode_t node{};
  size_t count = 0;
  expect(cudaGraphGetNodes(graph, nullptr, &count));
  check(count == 1, "one node");
  expect(cudaGraphGetNodes(graph, &node, &(count = 1)));
  return node;
}

/// What the node says of itself, as it was launched.
cudaKernelNodeParams paramsOf(cudaGraphNode_t node, const Work& launched) {
  cudaKernelNodeParams params{};
  expect(cudaGraphKernelNodeGetParams(node, &params));
  check(params.func == reinterpret_cast<void*>(work), "its kernel");
  check(params.gridDim.x == kCount / kBlock && params.blockDim.x == kBlock, "its dimensions");
  check(*static_cast<const int**>(params.kernelParams[0]) == launched.in, "an argument");
  check(*static_cast<int*>(params.kernelParams[2]) == launched.mode, "a number");
  return params;
}

cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t runnable;
  expect(cudaGraphInstantiateWithFlags(&runnable, graph, 0));
  return runnable;
}

void run(const char* what, cudaGraphExec_t runnable, cudaStream_t stream, const Work& work) {
  expect(cudaMemset(work.out, 0, kCount * sizeof(int)));
  expect(cudaDeviceSynchronize());
  expect(cudaGraphLaunch(runnable, stream));
  expect(cudaStreamSynchronize(stream));
  say(what, work.out, kCount);
}

} // namespace

int main() {
  std::vector<int> host(kCount);
  for (int i = 0; i < kCount; ++i)
    host[i] = i % 13;
  int *in = nullptr, *out = nullptr;
  expect(cudaMalloc(reinterpret_cast<void**>(&in), kCount * sizeof(int)));
  expect(cudaMalloc(reinterpret_cast<void**>(&out), kCount * sizeof(int)));
  expect(cudaMemcpy(in, host.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  cudaStream_t stream;
  expect(cudaStreamCreate(&stream));

  Work plain{in, out}, summed{in, out, 1}, twice{in, out, 2};
  work<<<kCount / kBlock, kBlock>>>(in, out, 0, kCount);
  expect(cudaDeviceSynchronize());
  say("launched", out, kCount);

  cudaGraph_t graph = capture(stream, plain);
  const cudaGraphNode_t node = onlyNode(graph);
  cudaGraphExec_t runnable = instantiate(graph);
  run("captured", runnable, stream, plain);

  cudaKernelNodeParams params = paramsOf(node, plain);
  params.kernelParams = summed.arguments;
  expect(cudaGraphExecKernelNodeSetParams(runnable, node, &params));
  run("another argument in the executable graph", runnable, stream, plain);
  paramsOf(node, plain);

  cudaGraph_t other = capture(stream, twice);
  cudaGraphNode_t failed{};
#ifdef __HIP__
  hipGraphExecUpdateResult result;
  expect(hipGraphExecUpdate(runnable, other, &failed, &result));
#else
  cudaGraphExecUpdateResultInfo result{};
  expect(cudaGraphExecUpdate(runnable, other, &result));
#endif
  check(!failed, "no node fails");
  run("updated from another graph", runnable, stream, plain);

  params = paramsOf(node, plain);
  params.kernelParams = summed.arguments;
  expect(cudaGraphKernelNodeSetParams(node, &params));
  paramsOf(node, summed);
  cudaGraphExec_t second = instantiate(graph);
  run("another argument in the graph", second, stream, plain);
  expect(cudaGraphExecKernelNodeSetParams(second, node, &(params = paramsOf(node, summed))));
  run("its own parameters", second, stream, plain);

  cudaGraph_t outer, inner = capture(stream, plain);
  cudaGraphNode_t child;
  expect(cudaGraphCreate(&outer, 0));
  expect(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  cudaGraphExec_t third = instantiate(outer);
  run("a graph in a graph", third, stream, plain);

  for (const cudaGraphExec_t one : {runnable, second, third})
    expect(cudaGraphExecDestroy(one));
  for (const cudaGraph_t one : {graph, other, outer, inner})
    expect(cudaGraphDestroy(one));
  expect(cudaStreamDestroy(stream));
  expect(cudaFree(in));
  expect(cudaFree(out));
  return finish("graph_edits");
}
