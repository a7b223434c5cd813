// Kernels in graphs whose nodes allocate memory and free some. Each case prints what its graphs
// have computed, and what the program is told of them.
//   graph_allocations CASE
#include "common.h"

#include <string>

/// values[i] = first + i * factor
__global__ void fill(int* values, int count, int first, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    values[i] = first + i * factor;
}

__global__ void addTo(const int* values, int* out, int count, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = out[i] * 3 + values[count - 1 - i] * factor;
}

using namespace graphs;

namespace {

constexpr int kCount = 1000;
constexpr size_t kBytes = kCount * sizeof(int);

int* zeros() {
  int* memory = nullptr;
  expect(cudaMalloc(&memory, kBytes));
  expect(cudaMemset(memory, 0, kBytes));
  return memory;
}

int* allocate(cudaStream_t stream, size_t bytes = kBytes) {
  int* memory = nullptr;
  expect(cudaMallocAsync(reinterpret_cast<void**>(&memory), bytes, stream));
  return memory;
}

cudaGraphExec_t runnable(cudaGraph_t graph, unsigned long long flags = 0) {
  cudaGraphExec_t exec;
  expect(cudaGraphInstantiateWithFlags(&exec, graph, flags));
  return exec;
}

/// With what the runtime says of it afterwards.
void sayStatus(const char* what, cudaError_t status) {
  const cudaError_t peeked = cudaPeekAtLastError(), last = cudaGetLastError();
  std::printf("%s: %s, peeked %s, last %s, then %s\n", what, cudaGetErrorName(status),
              cudaGetErrorName(peeked), cudaGetErrorName(last),
              cudaGetErrorName(cudaGetLastError()));
}

/// The types of a graph's nodes in the order of their creation, and what they allocate.
void sayNodes(cudaGraph_t graph) {
  size_t count = 0;
  expect(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  expect(cudaGraphGetNodes(graph, nodes.data(), &count));
  std::printf("nodes:");
  std::vector<void*> allocated;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type;
    expect(cudaGraphNodeGetType(node, &type));
    std::printf(" %d", static_cast<int>(type));
    if (type == cudaGraphNodeTypeMemAlloc) {
      cudaMemAllocNodeParams params{};
      expect(cudaGraphMemAllocNodeGetParams(node, &params));
      std::printf("(%zu bytes)", params.bytesize);
      allocated.push_back(params.dptr);
    } else if (type == cudaGraphNodeTypeMemFree) {
      void* freed = nullptr;
      expect(cudaGraphMemFreeNodeGetParams(node, &freed));
      std::printf("(%s)", freed == allocated.back() ? "the last" : "another");
    }
  }
  std::printf("\n");
}

/// Memory for two kernels, which is freed; the graph is gone before its launches.
void captured() {
  int* out = zeros();
  const cudaStream_t stream = newStream();
  begin(stream);
  int* scratch = allocate(stream);
  expect(cudaMemsetAsync(scratch, 1, kBytes, stream));
  fill<<<8, 128, 0, stream>>>(scratch, kCount, 5, 3);
  addTo<<<4, 256, 0, stream>>>(scratch, out, kCount, 2);
  expect(cudaFreeAsync(scratch, stream));
  const cudaGraph_t graph = end(stream);
  sayNodes(graph);
  const cudaGraphExec_t exec = runnable(graph);
  expect(cudaGraphDestroy(graph));
  for (int round = 0; round < 3; ++round) {
    run(exec, stream);
    say("captured", download(out, kCount));
  }
#ifdef ASKS_FOR_MEMORY
  size_t reserved = 0;
  expect(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved));
  std::printf("reserved: %zu bytes\n", reserved);
#endif
  expect(cudaGraphExecDestroy(exec));
}

cudaMemAllocNodeParams wanted(size_t bytes) {
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = bytes;
  return params;
}

/// Made node by node: two branches that each have memory, and join.
void explicitly() {
  int* out = zeros();
  const cudaStream_t stream = newStream();
  cudaGraph_t graph;
  expect(cudaGraphCreate(&graph, 0));
  std::vector<cudaGraphNode_t> filled;
  int* memory[2] = {};
  int count = kCount;
  for (int side = 0; side < 2; ++side) {
    cudaGraphNode_t allocation;
    cudaMemAllocNodeParams params = wanted(kBytes * (side + 1));
    expect(cudaGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &params));
    memory[side] = static_cast<int*>(params.dptr);
    int first = side * 100, factor = side + 2;
    void* arguments[] = {&memory[side], &count, &first, &factor};
    filled.push_back(addKernel(graph, {allocation}, reinterpret_cast<void*>(fill), arguments));
  }
  int factor = 7;
  void* joined[] = {&memory[0], &memory[1], &count, &factor};
  cudaGraphNode_t last = addKernel(graph, filled, reinterpret_cast<void*>(addTo), joined);
  cudaGraphNode_t copy;
  expect(cudaGraphAddMemcpyNode1D(&copy, graph, &last, 1, out, memory[1], kBytes,
                                  cudaMemcpyDeviceToDevice));
  cudaGraphNode_t frees[2];
  for (int side = 0; side < 2; ++side)
    expect(cudaGraphAddMemFreeNode(&frees[side], graph, &copy, 1, memory[side]));
  sayNodes(graph);
  sayStatus("freed twice", cudaGraphAddMemFreeNode(&frees[0], graph, &frees[1], 1, memory[0]));
  const cudaGraphExec_t exec = runnable(graph);
  cudaGraph_t other;
  cudaGraphExec_t second;
  expect(cudaGraphCreate(&other, 0));
  sayStatus("copied", cudaGraphClone(&other, graph));
  sayStatus("in a graph", cudaGraphAddChildGraphNode(&copy, other, nullptr, 0, graph));
  sayStatus("made runnable twice", cudaGraphInstantiateWithFlags(&second, graph, 0));
  sayStatus("a node less", cudaGraphDestroyNode(frees[0]));
  for (int round = 0; round < 2; ++round) {
    run(exec, stream);
    say("explicit", download(out, kCount));
  }
  sayStatus("freed by the program", cudaFree(memory[0]));
  expect(cudaGraphExecDestroy(exec));
  run(runnable(graph), stream);
  say("made runnable again", download(out, kCount));
}

/// Memory that the program frees, or that the next launch does.
void left() {
  int* out = zeros();
  const cudaStream_t stream = newStream();
  begin(stream);
  int* memory = allocate(stream);
  fill<<<8, 128, 0, stream>>>(memory, kCount, 1, 2);
  const cudaGraph_t graph = end(stream);
  cudaGraphExec_t exec = runnable(graph);
  run(exec, stream);
  sayStatus("launched again", cudaGraphLaunch(exec, stream));
  addTo<<<8, 128, 0, stream>>>(memory, out, kCount, 5);
  expect(cudaFreeAsync(memory, stream));
  run(exec, stream);
  addTo<<<8, 128, 0, stream>>>(memory, out, kCount, 7);
  expect(cudaFree(memory));
  say("left", download(out, kCount));
  sayStatus("freed again", cudaFree(memory));
  expect(cudaGraphExecDestroy(exec));
  exec = runnable(graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  run(exec, stream);
  run(exec, stream);
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
  // It outlives the graph.
  addTo<<<8, 128, 0, stream>>>(memory, out, kCount, 11);
  expect(cudaFreeAsync(memory, stream));
  say("freed by launches", download(out, kCount));
}

/// Freed by another graph.
void elsewhere() {
  int* out = zeros();
  const cudaStream_t stream = newStream();
  begin(stream);
  int* memory = allocate(stream);
  fill<<<8, 128, 0, stream>>>(memory, kCount, 4, 9);
  const cudaGraphExec_t first = runnable(end(stream));
  begin(stream);
  addTo<<<8, 128, 0, stream>>>(memory, out, kCount, 2);
  expect(cudaFreeAsync(memory, stream));
  const cudaGraphExec_t second = runnable(end(stream));
  for (int round = 0; round < 2; ++round) {
    run(first, stream);
    run(second, stream);
    say("elsewhere", download(out, kCount));
  }
  sayStatus("freed again", cudaGraphLaunch(second, stream));
}

/// Memory after memory: what is freed can be taken again.
void oneByOne() {
  int* out = zeros();
  const cudaStream_t stream = newStream();
  begin(stream);
  for (int round = 0; round < 6; ++round) {
    int* memory = allocate(stream, kBytes - round * 16);
    fill<<<8, 128, 0, stream>>>(memory, kCount - round * 4, round, 5);
    addTo<<<8, 128, 0, stream>>>(memory, out, kCount - round * 4, 3);
    expect(cudaFreeAsync(memory, stream));
  }
  const cudaGraph_t graph = end(stream);
  sayNodes(graph);
  const cudaGraphExec_t exec = runnable(graph);
  run(exec, stream);
  say("one by one", download(out, kCount));
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
}

/// A capture that fails takes its nodes along.
void failed() {
  const cudaStream_t stream = newStream(), aside = newStream();
  cudaEvent_t event;
  expect(cudaEventCreate(&event));
  begin(stream);
  allocate(stream);
  expect(cudaEventRecord(event, stream));
  expect(cudaStreamWaitEvent(aside, event, 0));
  fill<<<8, 128, 0, aside>>>(allocate(aside), kCount, 1, 1);
  cudaGraph_t graph = nullptr;
  sayStatus("a stream that does not come back", cudaStreamEndCapture(stream, &graph));
  captured();
}

/// One graph after the other, which may get the handles of the one before.
void again() {
  captured();
  captured();
}

} // namespace

int main(int argc, char** argv) {
  const std::string asked = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    void (*run)();
  } cases[] = {{"captured", captured},   {"explicit", explicitly}, {"left", left},
               {"elsewhere", elsewhere}, {"one by one", oneByOne}, {"failed", failed},
               {"again", again}};
  for (const auto& one : cases)
    if (asked.empty() || asked == one.name)
      one.run();
  return finish("graph_allocations");
}
