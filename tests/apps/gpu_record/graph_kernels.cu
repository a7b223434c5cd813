// Kernels in graphs are recorded as they run. Each case prints what its graphs have computed.
//   graph_kernels CASE
#include "common.h"

#include <string>

/// values[i] = values[i] * factor + added, for the first `count`.
__global__ void step(int* values, int count, int factor, int added) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] = values[i] * factor + added;
}

__global__ void waitFor(volatile int* flag, int* values) {
  while (*flag == 0) {
  }
  values[0] += *flag;
}

__global__ void join(const int* left, const int* right, int* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = left[i] * 3 + right[count - 1 - i];
}

using namespace graphs;

namespace {

constexpr int kCount = 1000;

int* device(int first) {
  std::vector<int> host(kCount);
  for (int i = 0; i < kCount; ++i)
    host[i] = first + i % 7;
  int* memory = nullptr;
  expect(cudaMalloc(&memory, kCount * sizeof(int)));
  expect(cudaMemcpy(memory, host.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  return memory;
}

/// The graph itself is gone before its first launch.
cudaGraphExec_t runnable(cudaGraph_t graph, bool isKept = false) {
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  if (!isKept)
    expect(cudaGraphDestroy(graph));
  return exec;
}

/// The parameters of a node that launches step().
struct Step {
  int *values, count = kCount, factor, added;
  void* arguments[4] = {&values, &count, &factor, &added};
  cudaKernelNodeParams params{};
  Step(int* memory, int by, int more, unsigned threads = 128)
      : values(memory), factor(by), added(more) {
    params.func = reinterpret_cast<void*>(step);
    params.gridDim = dim3((kCount + threads - 1) / threads);
    params.blockDim = dim3(threads);
    params.kernelParams = arguments;
  }
};

cudaGraphNode_t addStep(cudaGraph_t graph, std::vector<cudaGraphNode_t> after, Step step) {
  step.arguments[0] = &step.values, step.arguments[1] = &step.count;
  step.arguments[2] = &step.factor, step.arguments[3] = &step.added;
  step.params.kernelParams = step.arguments;
  cudaGraphNode_t node;
  expect(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &step.params));
  return node;
}

/// One kernel twice, and another between; launched three times.
void captured() {
  int *left = device(1), *right = device(5), *out = device(0);
  const cudaStream_t stream = newStream();
  begin(stream);
  step<<<8, 128, 0, stream>>>(left, kCount, 3, 1);
  join<<<8, 128, 0, stream>>>(left, right, out, kCount);
  step<<<8, 128, 0, stream>>>(out, kCount, 5, 2);
  const cudaGraphExec_t exec = runnable(end(stream));
  for (int round = 0; round < 3; ++round) {
    run(exec, stream);
    say("captured", download(out, kCount));
  }
  expect(cudaGraphExecDestroy(exec));
}

void addOne(void* counter) { ++*static_cast<int*>(counter); }

/// A fill, a kernel, a copy, a kernel, a copy to the host, and a function of the host.
void explicitly() {
  int *first = device(0), *second = device(0);
  static int host[kCount], calls = 0;
  cudaGraph_t graph;
  expect(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t fill, copy, back, called;
  cudaMemsetParams ones{};
  ones.dst = first, ones.value = 7, ones.elementSize = 4, ones.width = kCount, ones.height = 1;
  expect(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &ones));
  const cudaGraphNode_t one = addStep(graph, {fill}, Step(first, 3, 2));
  expect(cudaGraphAddMemcpyNode1D(&copy, graph, &one, 1, second, first, kCount * sizeof(int),
                                  cudaMemcpyDeviceToDevice));
  const cudaGraphNode_t two = addStep(graph, {copy}, Step(second, 2, 1, 64));
  expect(cudaGraphAddMemcpyNode1D(&back, graph, &two, 1, host, second, kCount * sizeof(int),
                                  cudaMemcpyDeviceToHost));
  cudaHostNodeParams call{addOne, &calls};
  expect(cudaGraphAddHostNode(&called, graph, &back, 1, &call));
  const cudaGraphExec_t exec = runnable(graph, true);
  const cudaStream_t stream = newStream();
  run(exec, stream);
  say("explicit", std::vector<int>(host, host + kCount));
  // The fill has another value, and the last copy comes from elsewhere.
  ones.value = 9;
  expect(cudaGraphExecMemsetNodeSetParams(exec, fill, &ones));
  expect(cudaGraphExecMemcpyNodeSetParams1D(exec, back, host, first, kCount * sizeof(int),
                                            cudaMemcpyDeviceToHost));
  run(exec, stream);
  say("changed", std::vector<int>(host, host + kCount));
  expect(cudaGraphNodeSetEnabled(exec, one, 0));
  run(exec, stream);
  say("without a kernel", std::vector<int>(host, host + kCount));
  std::printf("host function: %d calls\n", calls);
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
}

/// What a node launches changes between launches, in the executable graph alone.
void updated() {
  int* values = device(2);
  const cudaStream_t stream = newStream();
  cudaGraph_t graph, other;
  expect(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t node = addStep(graph, {}, Step(values, 3, 1));
  const cudaGraphExec_t exec = runnable(graph, true);
  run(exec, stream);
  Step changed(values, 7, 2, 256);
  expect(cudaGraphExecKernelNodeSetParams(exec, node, &changed.params));
  run(exec, stream);
  cudaKernelNodeParams asked{};
  expect(cudaGraphKernelNodeGetParams(node, &asked));
  std::printf("the graph has %u threads and factor %d\n", asked.blockDim.x,
              *static_cast<int*>(asked.kernelParams[2]));
  say("changed", download(values, kCount));
  expect(cudaGraphCreate(&other, 0));
  addStep(other, {}, Step(values, 11, 3, 512));
  cudaGraphExecUpdateResultInfo info{};
  expect(cudaGraphExecUpdate(exec, other, &info));
  expect(cudaGraphDestroy(other));
  run(exec, stream);
  say("updated", download(values, kCount));
  Step last(values, 13, 4, 32);
  expect(cudaGraphExecKernelNodeSetParams(exec, node, &last.params));
  run(exec, stream);
  say("changed again", download(values, kCount));
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
}

/// A graph in a graph, whose kernel changes; then it is another graph.
void child() {
  int* values = device(3);
  const cudaStream_t stream = newStream();
  cudaGraph_t inner, outer, other;
  expect(cudaGraphCreate(&inner, 0));
  addStep(inner, {addStep(inner, {}, Step(values, 3, 1))}, Step(values, 5, 2));
  expect(cudaGraphCreate(&outer, 0));
  const cudaGraphNode_t before = addStep(outer, {}, Step(values, 1, 100, 64));
  cudaGraphNode_t nested;
  expect(cudaGraphAddChildGraphNode(&nested, outer, &before, 1, inner));
  addStep(outer, {nested}, Step(values, 7, 3, 256));
  const cudaGraphExec_t exec = runnable(outer, true);
  run(exec, stream);
  say("child", download(values, kCount));
  expect(cudaGraphCreate(&other, 0));
  addStep(other, {addStep(other, {}, Step(values, 9, 4, 32))}, Step(values, 11, 5, 512));
  expect(cudaGraphExecChildGraphNodeSetParams(exec, nested, other));
  run(exec, stream);
  say("another child", download(values, kCount));
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(outer));
  expect(cudaGraphDestroy(inner));
  expect(cudaGraphDestroy(other));
}

/// Two streams, which join.
void forked() {
  int *left = device(1), *right = device(4), *out = device(0);
  const cudaStream_t stream = newStream(), aside = newStream();
  cudaEvent_t fork, joined;
  expect(cudaEventCreate(&fork));
  expect(cudaEventCreate(&joined));
  begin(stream);
  expect(cudaMemsetAsync(out, 0, kCount * sizeof(int), stream));
  expect(cudaEventRecord(fork, stream));
  expect(cudaStreamWaitEvent(aside, fork, 0));
  step<<<8, 128, 0, stream>>>(left, kCount, 3, 1);
  step<<<4, 256, 0, aside>>>(right, kCount, 5, 2);
  step<<<4, 256, 0, aside>>>(right, kCount, 7, 3);
  expect(cudaEventRecord(joined, aside));
  expect(cudaStreamWaitEvent(stream, joined, 0));
  join<<<8, 128, 0, stream>>>(left, right, out, kCount);
  const cudaGraphExec_t exec = runnable(end(stream));
  for (int round = 0; round < 2; ++round) {
    // Launches of one graph come one after the other, whatever their streams.
    expect(cudaGraphLaunch(exec, round ? aside : stream));
    expect(cudaDeviceSynchronize());
    say("forked", download(out, kCount));
  }
  expect(cudaGraphExecDestroy(exec));
}

/// Memory of the graph's own: it is launched as it is.
void memory() {
  int* out = device(0);
  const cudaStream_t stream = newStream();
  begin(stream);
  int* scratch = nullptr;
  expect(cudaMallocAsync(reinterpret_cast<void**>(&scratch), kCount * sizeof(int), stream));
  expect(cudaMemsetAsync(scratch, 1, kCount * sizeof(int), stream));
  step<<<8, 128, 0, stream>>>(scratch, kCount, 3, 1);
  expect(cudaMemcpyAsync(out, scratch, kCount * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  expect(cudaFreeAsync(scratch, stream));
  const cudaGraphExec_t exec = runnable(end(stream));
  run(exec, stream);
  run(exec, stream);
  say("memory", download(out, kCount));
  expect(cudaGraphExecDestroy(exec));
}

/// A kernel between two others waits for what the program does after the launch.
void waiting() {
  int *values = device(1), *flag = nullptr;
  expect(cudaMallocHost(reinterpret_cast<void**>(&flag), sizeof(int)));
  const cudaStream_t stream = newStream();
  begin(stream);
  step<<<8, 128, 0, stream>>>(values, kCount, 3, 1);
  waitFor<<<1, 1, 0, stream>>>(flag, values);
  step<<<4, 256, 0, stream>>>(values, kCount, 5, 2);
  const cudaGraphExec_t exec = runnable(end(stream));
  for (int round = 0; round < 2; ++round) {
    *static_cast<volatile int*>(flag) = 0;
    expect(cudaGraphLaunch(exec, stream));
    *static_cast<volatile int*>(flag) = 7;
    expect(cudaStreamSynchronize(stream));
    say("waiting", download(values, kCount));
  }
  expect(cudaGraphExecDestroy(exec));
}

} // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    void (*run)();
  } cases[] = {{"captured", captured}, {"explicit", explicitly}, {"updated", updated},
               {"child", child},       {"forked", forked},       {"memory", memory},
               {"waiting", waiting}};
  for (const auto& one : cases)
    if (wanted == one.name || (wanted.empty() && one.run != waiting)) // which takes its time
      one.run();
  return finish("graph_kernels");
}
