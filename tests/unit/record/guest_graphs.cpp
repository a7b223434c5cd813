// Graphs of the smallest vendor runtime: kernels with a pointer and a number, and functions of the
// host, one behind the other.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/record/guest_graphs.h"
#include "tests/unit/record/guest_kernel.h"

namespace {

constexpr int kInvalidValue = 1, kHostNode = 3;

thread_local int captureMode = 0;

struct Graph;

struct Node {
  GuestNode kernel{};
  GuestHostNode host;
  float* data = nullptr;
  int count = 0;
  Graph* graph;
  const Node* original = nullptr;
  void* args[2] = {&data, &count};

  Node(Graph* of, const GuestNode& params, const Node* from = nullptr)
      : kernel(params), data(*static_cast<float**>(params.args[0])),
        count(*static_cast<int*>(params.args[1])), graph(of), original(from) {
    kernel.args = args;
  }
  Node(Graph* of, const GuestHostNode& params, const Node* from = nullptr)
      : host(params), graph(of), original(from) {}
  Node(const Node&) = delete;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;

  template <typename Params> void add(const Params& params, const Node* from = nullptr) {
    nodes.push_back(std::make_unique<Node>(this, params, from));
  }
  Graph* copy() const {
    auto* const made = new Graph;
    for (const auto& node : nodes)
      if (node->host.function)
        made->add(node->host, node.get());
      else
        made->add(node->kernel, node.get());
    return made;
  }
};

struct Exec {
  std::unique_ptr<Graph> graph;
  std::set<const void*> off; ///< by original
};

Graph& graphOf(void* graph) { return *static_cast<Graph*>(graph); }
Node& nodeOf(void* node) { return *static_cast<Node*>(node); }
Exec& execOf(void* exec) { return *static_cast<Exec*>(exec); }

} // namespace

#pragma GCC visibility push(default)
extern "C" {

int cudaGraphCreate(void** graph, unsigned) { return *graph = new Graph, 0; }
int cudaGraphAddKernelNode(void** node, void* graph, void* const*, size_t,
                           const GuestNode* params) {
  graphOf(graph).add(*params);
  return *node = graphOf(graph).nodes.back().get(), 0;
}
int cudaGraphAddHostNode(void** node, void* graph, void* const*, size_t,
                         const GuestHostNode* params) {
  graphOf(graph).add(*params);
  return *node = graphOf(graph).nodes.back().get(), 0;
}
int cudaThreadExchangeStreamCaptureMode(int* mode) { return std::swap(*mode, captureMode), 0; }
/// For the driver.
bool guestMayEndCaptures() { return captureMode != 2; }
int cudaGraphGetNodes(void* graph, void** nodes, size_t* count) {
  const auto& all = graphOf(graph).nodes;
  for (size_t index = 0; nodes && index < std::min(*count, all.size()); ++index)
    nodes[index] = all[index].get();
  return *count = all.size(), 0;
}
int cudaGraphNodeGetType(void* node, int* type) {
  return *type = nodeOf(node).host.function ? kHostNode : 0, 0;
}
int cudaGraphMemAllocNodeGetParams(void*, void*) { return kInvalidValue; }
int cudaGraphChildGraphNodeGetGraph(void*, void**) { return kInvalidValue; }
int cudaGraphGetEdges(void* graph, void** from, void** to, size_t* count) {
  const auto& all = graphOf(graph).nodes;
  const size_t edges = all.empty() ? 0 : all.size() - 1;
  for (size_t index = 0; from && index < std::min(*count, edges); ++index)
    from[index] = all[index].get(), to[index] = all[index + 1].get();
  return *count = edges, 0;
}
int cudaGraphClone(void** copy, void* graph) { return *copy = graphOf(graph).copy(), 0; }
int cudaGraphDestroy(void* graph) { return delete &graphOf(graph), 0; }
int cudaGraphNodeFindInClone(void** node, void* original, void* copy) {
  for (const auto& one : graphOf(copy).nodes)
    if (one->original == original)
      return *node = one.get(), 0;
  return kInvalidValue;
}
int cudaGraphDestroyNode(void* node) {
  std::erase_if(nodeOf(node).graph->nodes, [&](const auto& one) { return one.get() == node; });
  return 0;
}
int cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  return *exec = new Exec{std::unique_ptr<Graph>(graphOf(graph).copy()), {}}, 0;
}
int cudaGraphExecDestroy(void* exec) { return delete &execOf(exec), 0; }
int cudaGraphNodeSetEnabled(void* exec, void* node, unsigned isEnabled) {
  if (isEnabled)
    execOf(exec).off.erase(node);
  else
    execOf(exec).off.insert(node);
  return 0;
}
int cudaGraphKernelNodeGetParams(void* node, void* params) {
  if (nodeOf(node).host.function)
    return kInvalidValue;
  return *static_cast<GuestNode*>(params) = nodeOf(node).kernel, 0;
}
int cudaGraphLaunch(void* exec, void* stream) {
  for (const auto& node : execOf(exec).graph->nodes) {
    const GuestNode& kernel = node->kernel;
    if (execOf(exec).off.contains(node->original))
      continue;
    if (node->host.function)
      std::thread(node->host.function, node->host.data).join();
    else if (const int status = cudaLaunchKernel(kernel.function, kernel.grid, kernel.block,
                                                 kernel.args, kernel.sharedBytes, stream);
             status != 0)
      return status;
  }
  return 0;
}

} // extern "C"
#pragma GCC visibility pop
