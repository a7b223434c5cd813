// Graphs: built by hand, run, changed and updated, copied, asked, destroyed in any order.
#include <cstring>
#include <vector>

#include "check.h"

namespace {

constexpr int kCount = 256;

__global__ void addTo(int* data, int count, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] += what;
}

__global__ void multiply(int* data, int count, int what) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] *= what;
}

__device__ int variable[4] = {1, 2, 3, 4};

__global__ void readVariable(int* out) { out[threadIdx.x] = variable[threadIdx.x]; }

struct Call {
  int* data;
  int count;
  int what;
  void* pointers[3] = {&data, &count, &what};
  cudaKernelNodeParams params{};
  Call(void (*kernel)(int*, int, int), int* memory, int value)
      : data(memory), count(kCount), what(value) {
    params.func = reinterpret_cast<void*>(kernel);
    params.gridDim = dim3(2);
    params.blockDim = dim3(kCount / 2);
    params.kernelParams = pointers;
  }
};

void addOne(void* counter) { ++*static_cast<int*>(counter); }

cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  expect(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

void launch(cudaGraphExec_t exec, int times = 1) {
  for (int round = 0; round < times; ++round)
    expect(cudaGraphLaunch(exec, nullptr));
  expect(cudaDeviceSynchronize());
}

/// Two branches between a first and a last node.
void diamond() {
  Buffer<int> left(kCount), right(kCount);
  cudaGraph_t graph;
  expect(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t fill, first, second, both;
  cudaMemsetParams zero{};
  zero.dst = left.device();
  zero.value = 0x01020304;
  zero.elementSize = 4;
  zero.width = kCount;
  zero.height = 1;
  expect(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
  Call one(addTo, left.device(), 5), two(multiply, left.device(), 2),
      three(addTo, right.device(), 1);
  expect(cudaGraphAddKernelNode(&first, graph, &fill, 1, &one.params));
  one.what = 1000; // the node has a copy
  expect(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &three.params));
  const cudaGraphNode_t ends[] = {first, second};
  expect(cudaGraphAddKernelNode(&both, graph, ends, 2, &two.params));
  size_t nodes = 0, edges = 0, roots = 0;
  expect(cudaGraphGetNodes(graph, nullptr, &nodes));
  expect(cudaGraphGetRootNodes(graph, nullptr, &roots));
  expect(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  check(nodes == 4 && roots == 2 && edges == 3, "nodes, roots and edges are counted");
  cudaGraphNode_t from[3], to[3];
  cudaGraphEdgeData data[3];
  expect(cudaGraphGetEdges(graph, from, to, data, &edges));
  check(from[0] == fill && to[0] == first, "edges are told");
  cudaGraphNode_t found[2];
  size_t count = 2;
  expect(cudaGraphNodeGetDependencies(both, found, nullptr, &count));
  check(count == 2 && found[0] == first && found[1] == second, "dependencies are told");
  count = 2;
  expect(cudaGraphNodeGetDependentNodes(fill, found, nullptr, &count));
  check(count == 1 && found[0] == first && !found[1], "dependent nodes are told");
  cudaGraphNodeType type;
  expect(cudaGraphNodeGetType(fill, &type));
  check(type == cudaGraphNodeTypeMemset, "types are told");
  cudaGraphExec_t exec = instantiate(graph);
  launch(exec, 3);
  left.download();
  right.download();
  check(left[7] == (0x01020304 + 5) * 2 && right[9] == 3, "all nodes have run in order");
  // One node out, one in.
  expect(cudaGraphNodeSetEnabled(exec, first, 0));
  unsigned isEnabled = 1;
  expect(cudaGraphNodeGetEnabled(exec, first, &isEnabled));
  check(isEnabled == 0, "the node is out");
  launch(exec);
  left.download();
  check(left[7] == 0x01020304 * 2, "a node that is out does not run");
  // Edges come and go; one to itself or twice is none.
  expect(cudaGraphAddDependencies(graph, &second, &first, nullptr, 1));
  expect(cudaGraphAddDependencies(graph, &second, &first, nullptr, 1), cudaErrorInvalidValue);
  expect(cudaGraphAddDependencies(graph, &first, &first, nullptr, 1), cudaErrorInvalidValue);
  expect(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1)); // a circle
  cudaGraphExec_t circle = nullptr;
  expect(cudaGraphInstantiate(&circle, graph, 0), cudaErrorInvalidValue);
  expect(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
  expect(cudaGraphDestroyNode(first));
  expect(cudaGraphGetNodes(graph, nullptr, &nodes));
  check(nodes == 3, "the node is gone");
  expect(cudaGraphDestroyNode(first), cudaErrorInvalidValue);
  expect(cudaGraphDestroy(graph)); // before what was made of it
  launch(exec);
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphLaunch(exec, nullptr), cudaErrorInvalidValue);
  expect(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  cudaGetLastError();
}

void changes() {
  Buffer<int> data(kCount), other(kCount);
  cudaGraph_t graph;
  expect(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t kernel, copy, host, fill;
  int calls = 0, moreCalls = 0;
  Call one(addTo, data.device(), 5);
  expect(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &one.params));
  expect(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, data.host(), data.device(),
                                  kCount * sizeof(int), cudaMemcpyDeviceToHost));
  cudaHostNodeParams function{addOne, &calls};
  expect(cudaGraphAddHostNode(&host, graph, &copy, 1, &function));
  cudaMemsetParams bytes{data.device(), 0, 1, 1, 16, 1};
  expect(cudaGraphAddMemsetNode(&fill, graph, &host, 1, &bytes));
  cudaGraphExec_t exec = instantiate(graph);
  launch(exec, 2000);
  check(calls == 2000 && data[100] == 2000 * 5 && data[0] == 0x01010101 + 5, "many launches");
  // In the executable graph alone.
  Call two(addTo, other.device(), 7);
  expect(cudaGraphExecKernelNodeSetParams(exec, kernel, &two.params));
  expect(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, other.host(), other.device(),
                                            kCount * sizeof(int), cudaMemcpyDeviceToHost));
  function.userData = &moreCalls;
  expect(cudaGraphExecHostNodeSetParams(exec, host, &function));
  bytes.dst = other.device();
  expect(cudaGraphExecMemsetNodeSetParams(exec, fill, &bytes));
  launch(exec);
  check(calls == 2000 && moreCalls == 1 && other[100] == 7, "parameters have changed");
  cudaKernelNodeParams asked{};
  expect(cudaGraphKernelNodeGetParams(kernel, &asked));
  check(*static_cast<int*>(asked.kernelParams[2]) == 5 && asked.gridDim.x == 2,
        "the graph itself has not");
  expect(cudaGraphExecKernelNodeSetParams(exec, copy, &two.params), cudaErrorInvalidValue);
  // In the graph; what was made of it stays.
  expect(cudaGraphKernelNodeSetParams(kernel, &two.params));
  expect(cudaGraphKernelNodeGetParams(kernel, &asked));
  check(*static_cast<int*>(asked.kernelParams[2]) == 7, "the graph has changed");
  two.what = 100;
  expect(cudaGraphKernelNodeSetParams(kernel, &two.params));
  cudaGraphExecUpdateResultInfo info{};
  expect(cudaGraphExecUpdate(exec, graph, &info));
  check(info.result == cudaGraphExecUpdateSuccess, "updated");
  launch(exec);
  check(calls == 2001, "the update took the graph's host node");
  other.download();
  check(other[100] == 107, "and its kernel");
  // Another shape.
  cudaGraphNode_t more;
  expect(cudaGraphAddEmptyNode(&more, graph, &fill, 1));
  expect(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
  check(info.result == cudaGraphExecUpdateErrorTopologyChanged, "the shape is another");
  expect(cudaGraphDestroyNode(more));
  cudaGraph_t different;
  cudaGraphNode_t nodes[4];
  expect(cudaGraphCreate(&different, 0));
  expect(cudaGraphAddEmptyNode(&nodes[0], different, nullptr, 0));
  for (int i = 1; i < 4; ++i)
    expect(cudaGraphAddEmptyNode(&nodes[i], different, &nodes[i - 1], 1));
  expect(cudaGraphExecUpdate(exec, different, &info), cudaErrorGraphExecUpdateFailure);
  check(info.result == cudaGraphExecUpdateErrorNodeTypeChanged && info.errorNode == nodes[0],
        "the first node is of another type");
  launch(exec);
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(different));
  expect(cudaGraphDestroy(graph));
  cudaGetLastError();
}

void symbols() {
  Buffer<int> out(4);
  cudaGraph_t graph;
  expect(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t to, kernel, from;
  static int host[4] = {10, 20, 30, 40};
  int back[2] = {};
  expect(cudaGraphAddMemcpyNodeToSymbol(&to, graph, nullptr, 0, variable, host, 2 * sizeof(int),
                                        sizeof(int), cudaMemcpyHostToDevice));
  int* memory = out.device();
  void* arguments[] = {&memory};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(readVariable);
  params.gridDim = dim3(1);
  params.blockDim = dim3(4);
  params.kernelParams = arguments;
  expect(cudaGraphAddKernelNode(&kernel, graph, &to, 1, &params));
  expect(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &kernel, 1, back, variable, 2 * sizeof(int),
                                          2 * sizeof(int), cudaMemcpyDeviceToHost));
  cudaGraphExec_t exec = instantiate(graph);
  launch(exec);
  out.download();
  check(out[0] == 1 && out[1] == 10 && out[2] == 20 && out[3] == 4, "copied to a variable");
  check(back[0] == 20 && back[1] == 4, "copied from a variable");
  expect(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, variable, host + 2, 2 * sizeof(int), 0,
                                                  cudaMemcpyHostToDevice));
  launch(exec);
  out.download();
  check(out[0] == 30 && out[1] == 40 && out[2] == 20, "copied to another place of it");
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
}

void children() {
  Buffer<int> data(kCount);
  cudaGraph_t inner, outer, copy;
  expect(cudaGraphCreate(&inner, 0));
  expect(cudaGraphCreate(&outer, 0));
  cudaGraphNode_t add, child, twice, found;
  Call one(addTo, data.device(), 1), two(multiply, data.device(), 3);
  expect(cudaGraphAddKernelNode(&add, inner, nullptr, 0, &one.params));
  expect(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, inner));
  expect(cudaGraphAddKernelNode(&twice, outer, &child, 1, &two.params));
  expect(cudaGraphClone(&copy, outer));
  expect(cudaGraphNodeFindInClone(&found, twice, copy));
  check(found != twice, "the copy has nodes of its own");
  cudaGraph_t held;
  expect(cudaGraphChildGraphNodeGetGraph(child, &held));
  check(held != inner, "the node has a graph of its own");
  expect(cudaGraphDestroy(held), cudaErrorInvalidValue);
  cudaGetLastError();
  size_t nodes = 0;
  expect(cudaGraphGetNodes(held, nullptr, &nodes));
  check(nodes == 1, "a copy of the other");
  expect(cudaGraphDestroy(inner));
  cudaGraphExec_t first = instantiate(outer), second = instantiate(copy);
  expect(cudaGraphDestroy(copy));
  launch(first);
  launch(second);
  data.download();
  check(data[5] == 12, "graphs in graphs have run");
  // The inner graph's parameters, by another of the same shape.
  cudaGraph_t other;
  Call ten(addTo, data.device(), 10);
  expect(cudaGraphCreate(&other, 0));
  expect(cudaGraphAddKernelNode(&add, other, nullptr, 0, &ten.params));
  expect(cudaGraphExecChildGraphNodeSetParams(first, child, other));
  launch(first);
  data.download();
  check(data[5] == 66, "the inner graph has changed");
  expect(cudaGraphExecDestroy(second));
  expect(cudaGraphDestroy(other));
  expect(cudaGraphDestroy(outer));
  expect(cudaGraphExecDestroy(first));
}

void anyType() {
  Buffer<int> data(kCount);
  cudaGraph_t graph;
  expect(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t kernel, copy, host;
  Call one(addTo, data.device(), 4);
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeKernel;
  std::memcpy(&params.kernel, &one.params, sizeof one.params);
  expect(cudaGraphAddNode(&kernel, graph, nullptr, nullptr, 0, &params));
  cudaGraphNodeParams copyParams{};
  copyParams.type = cudaGraphNodeTypeMemcpy;
  copyParams.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(data.device(), 64, 64, 16);
  copyParams.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(data.host(), 64, 64, 16);
  copyParams.memcpy.copyParams.extent = make_cudaExtent(64, 16, 1);
  copyParams.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  expect(cudaGraphAddNode(&copy, graph, &kernel, nullptr, 1, &copyParams));
  int calls = 0;
  cudaGraphNodeParams hostParams{};
  hostParams.type = cudaGraphNodeTypeHost;
  hostParams.host.fn = addOne;
  hostParams.host.userData = &calls;
  expect(cudaGraphAddNode(&host, graph, &copy, nullptr, 1, &hostParams));
  cudaGraphExec_t exec = instantiate(graph);
  launch(exec);
  one.what = 30;
  expect(cudaGraphExecNodeSetParams(exec, kernel, &params));
  launch(exec);
  check(data[255] == 34 && calls == 2, "nodes of any type");
  // A graph's own memory.
  cudaGraph_t second;
  expect(cudaGraphCreate(&second, 0));
  cudaGraphNode_t take, use, back, give;
  cudaMemAllocNodeParams memory{};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = kCount * sizeof(int);
  expect(cudaGraphAddMemAllocNode(&take, second, nullptr, 0, &memory));
  cudaMemsetParams bytes{memory.dptr, 0, 2, 1, kCount * sizeof(int), 1};
  expect(cudaGraphAddMemsetNode(&use, second, &take, 1, &bytes));
  expect(cudaGraphAddMemcpyNode1D(&back, second, &use, 1, data.host(), memory.dptr,
                                  kCount * sizeof(int), cudaMemcpyDeviceToHost));
  expect(cudaGraphAddMemFreeNode(&give, second, &back, 1, memory.dptr));
  cudaGraphExec_t allocating = instantiate(second);
  launch(allocating, 3);
  check(data[3] == 0x02020202, "memory of a graph");
  expect(cudaGraphExecDestroy(allocating));
  expect(cudaGraphDestroy(second));
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
}

void userObjects() {
  int destroyed = 0;
  cudaUserObject_t object;
  cudaGraph_t graph;
  expect(cudaGraphCreate(&graph, 0));
  expect(cudaUserObjectCreate(&object, &destroyed, addOne, 1, cudaUserObjectNoDestructorSync));
  expect(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  cudaGraphExec_t exec = instantiate(graph);
  expect(cudaGraphDestroy(graph));
  check(destroyed == 0, "the executable graph keeps it");
  launch(exec);
  expect(cudaGraphExecDestroy(exec));
  expect(cudaDeviceSynchronize());
  std::printf("destroyed: %d\n", destroyed);
}

/// What a launch has allocated and nobody has freed.
void keptMemory() {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  expect(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams memory{};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = 1000;
  expect(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
  expect(cudaGraphInstantiate(&exec, graph, 0));
  expect(cudaGraphLaunch(exec, nullptr));
  expect(cudaGraphLaunch(exec, nullptr), cudaErrorInvalidValue);
  cudaGetLastError();
  expect(cudaFree(memory.dptr));
  expect(cudaGraphLaunch(exec, nullptr));
  expect(cudaFree(memory.dptr));
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  expect(cudaGraphLaunch(exec, nullptr));
  expect(cudaGraphLaunch(exec, nullptr));
  expect(cudaDeviceSynchronize());
  expect(cudaFree(memory.dptr));
  expect(cudaGraphExecDestroy(exec));
  expect(cudaGraphDestroy(graph));
}

} // namespace

int main() {
  diamond();
  changes();
  symbols();
  children();
  anyType();
  userObjects();
  keptMemory();
  return finish("graphs");
}
