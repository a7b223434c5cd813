// Graphs as a whole: made, copied, asked for nodes and edges, written down.
#include <algorithm>
#include <cstdio>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_nodes.h"
#include "runtime/emulator/runtimes/core/kernels.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

struct Edge {
  Node* from;
  Node* to;
};

std::vector<Edge> edgesOf(const Graph& graph) {
  std::vector<Edge> edges;
  for (const auto& node : graph.nodes())
    for (Node* dependency : node->dependencies)
      edges.push_back({dependency, node.get()});
  return edges;
}

/// Answers with a list: without a place for it, its length; else at most `*count` entries, and null
/// in the places that are left.
Status give(const std::vector<Node*>& nodes, void** out, size_t* count) {
  if (!count)
    return Status::InvalidValue;
  for (size_t index = 0; out && index < *count; ++index)
    out[index] = index < nodes.size() ? nodes[index] : nullptr;
  *count = out ? std::min(*count, nodes.size()) : nodes.size();
  return Status::Success;
}

Status giveEdges(const Graph& graph, void** from, void** to, GraphEdgeData* data, size_t* count) {
  if (!count || !from != !to)
    return Status::InvalidValue;
  const std::vector<Edge> edges = edgesOf(graph);
  for (size_t index = 0; from && index < *count; ++index) {
    const bool isOne = index < edges.size();
    from[index] = isOne ? edges[index].from : nullptr;
    to[index] = isOne ? edges[index].to : nullptr;
    if (data)
      data[index] = {};
  }
  *count = from ? std::min(*count, edges.size()) : edges.size();
  return Status::Success;
}

template <typename Collect>
Status giveNeighbours(void* handle, void** out, GraphEdgeData* data, size_t* count,
                      const Collect& collect) {
  return withGraphs([&] {
    Node* node = findNode(handle);
    if (!node)
      return Status::InvalidValue;
    const Status status = give(collect(*node), out, count);
    if (status == Status::Success && out && data)
      std::fill_n(data, *count, GraphEdgeData{});
    return status;
  });
}

std::vector<Node*> dependenciesOf(const Node& node) { return node.dependencies; }

std::vector<Node*> dependentsOf(const Node& node) {
  std::vector<Node*> found;
  for (const auto& other : node.graph->nodes())
    if (std::ranges::find(other->dependencies, &node) != other->dependencies.end())
      found.push_back(other.get());
  return found;
}

/// Adds or removes edges; all of them or none.
Status changeEdges(void* graphHandle, void* const* from, void* const* to, size_t count,
                   bool isAdding) {
  return withGraphs([&] {
    const auto graph = findGraph(graphHandle);
    if (!graph || (count > 0 && (!from || !to)))
      return Status::InvalidValue;
    std::vector<Edge> edges;
    for (size_t index = 0; index < count; ++index) {
      Node *first = findNode(from[index]), *second = findNode(to[index]);
      if (!first || !second || first == second || first->graph != graph.get() ||
          second->graph != graph.get())
        return Status::InvalidValue;
      const bool isThere =
          std::ranges::find(second->dependencies, first) != second->dependencies.end();
      if (isThere == isAdding)
        return Status::InvalidValue;
      edges.push_back({first, second});
    }
    for (const auto& [first, second] : edges) {
      if (isAdding)
        second->dependencies.push_back(first);
      else
        std::erase(second->dependencies, first);
    }
    return Status::Success;
  });
}

std::string labelOf(const Node& node) {
  static constexpr const char* names[] = {"kernel",   "memcpy", "memset",    "host",
                                          "graph",    "empty",  "waitEvent", "recordEvent",
                                          "memAlloc", "memFree"};
  std::string label = names[node.work.index()];
  if (const auto* kernel = std::get_if<KernelWork>(&node.work))
    if (const auto found = findKernel(kernel->function))
      label += " " + found->name;
  return label;
}

void writeDot(FILE* file, const Graph& graph, const std::string& name, bool isOutermost) {
  std::fprintf(file, "%s %s {\n", isOutermost ? "digraph" : "subgraph", name.c_str());
  size_t number = 0;
  std::unordered_map<const Node*, size_t> numbers;
  for (const auto& node : graph.nodes()) {
    numbers[node.get()] = number;
    std::fprintf(file, "\"%s_node_%zu\"[label=\"%zu %s\"];\n", name.c_str(), number, number,
                 labelOf(*node).c_str());
    if (const auto* child = std::get_if<ChildWork>(&node->work))
      writeDot(file, *child->graph, name + "_node_" + std::to_string(number) + "_graph", false);
    ++number;
  }
  for (const auto& [from, to] : edgesOf(graph))
    std::fprintf(file, "\"%s_node_%zu\" -> \"%s_node_%zu\";\n", name.c_str(), numbers[from],
                 name.c_str(), numbers[to]);
  std::fprintf(file, "}\n");
}

} // namespace

MNEME_RUNTIME_API Status gpuGraphCreate(void** graph, unsigned flags) {
  return withGraphs([&] {
    if (!graph || flags != 0)
      return Status::InvalidValue;
    *graph = registerGraph(std::make_shared<Graph>());
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphDestroy(void* graph) {
  return withGraphs([&] { return destroyGraph(graph) ? Status::Success : Status::InvalidValue; });
}

MNEME_RUNTIME_API Status gpuGraphClone(void** clone, void* original) {
  return withGraphs([&] {
    const auto graph = findGraph(original);
    if (!clone || !graph)
      return Status::InvalidValue;
    if (graph->hasMemory())
      return Status::NotSupported;
    *clone = registerGraph(graph->clone());
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphNodeFindInClone(void** node, void* original, void* clone) {
  return withGraphs([&] {
    const auto graph = findGraph(clone);
    if (!node || !graph || !findNode(original))
      return Status::InvalidValue;
    const auto found = std::ranges::find_if(
        graph->nodes(), [&](const auto& one) { return one->original == original; });
    if (found == graph->nodes().end())
      return Status::InvalidValue;
    *node = found->get();
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphNodeGetType(void* handle, NodeType* type) {
  return withGraphs([&] {
    const Node* node = findNode(handle);
    if (!node || !type)
      return Status::InvalidValue;
    *type = typeOf(node->work);
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphDestroyNode(void* handle) {
  return withGraphs([&] {
    Node* node = findNode(handle);
    // Memory of graphs is bound to where it is allocated and freed.
    if (!node || node->work.index() >= Work(AllocWork{}).index())
      return node ? Status::NotSupported : Status::InvalidValue;
    node->graph->remove(*node);
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphGetNodes(void* handle, void** nodes, size_t* count) {
  return withGraphs([&] {
    const auto graph = findGraph(handle);
    std::vector<Node*> all;
    for (size_t index = 0; graph && index < graph->nodes().size(); ++index)
      all.push_back(graph->nodes()[index].get());
    return graph ? give(all, nodes, count) : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuGraphGetRootNodes(void* handle, void** nodes, size_t* count) {
  return withGraphs([&] {
    const auto graph = findGraph(handle);
    std::vector<Node*> roots;
    for (size_t index = 0; graph && index < graph->nodes().size(); ++index)
      if (graph->nodes()[index]->dependencies.empty())
        roots.push_back(graph->nodes()[index].get());
    return graph ? give(roots, nodes, count) : Status::InvalidValue;
  });
}

// Edges. Functions whose names end in _v2 have data of edges; those with the plain names have it
// where edgesHaveData() says so.

MNEME_RUNTIME_API Status gpuGraphGetEdges_v2(void* handle, void** from, void** to,
                                             GraphEdgeData* data, size_t* count) {
  return withGraphs([&] {
    const auto graph = findGraph(handle);
    return graph ? giveEdges(*graph, from, to, data, count) : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuGraphGetEdges(void* graph, void** from, void** to, void* fourth,
                                          size_t* fifth) {
  return edgesHaveData()
             ? gpuGraphGetEdges_v2(graph, from, to, static_cast<GraphEdgeData*>(fourth), fifth)
             : gpuGraphGetEdges_v2(graph, from, to, nullptr, static_cast<size_t*>(fourth));
}

MNEME_RUNTIME_API Status gpuGraphNodeGetDependencies_v2(void* node, void** nodes,
                                                        GraphEdgeData* data, size_t* count) {
  return giveNeighbours(node, nodes, data, count, dependenciesOf);
}

MNEME_RUNTIME_API Status gpuGraphNodeGetDependencies(void* node, void** nodes, void* third,
                                                     size_t* fourth) {
  return edgesHaveData()
             ? gpuGraphNodeGetDependencies_v2(node, nodes, static_cast<GraphEdgeData*>(third),
                                              fourth)
             : gpuGraphNodeGetDependencies_v2(node, nodes, nullptr, static_cast<size_t*>(third));
}

MNEME_RUNTIME_API Status gpuGraphNodeGetDependentNodes_v2(void* node, void** nodes,
                                                          GraphEdgeData* data, size_t* count) {
  return giveNeighbours(node, nodes, data, count, dependentsOf);
}

MNEME_RUNTIME_API Status gpuGraphNodeGetDependentNodes(void* node, void** nodes, void* third,
                                                       size_t* fourth) {
  return edgesHaveData()
             ? gpuGraphNodeGetDependentNodes_v2(node, nodes, static_cast<GraphEdgeData*>(third),
                                                fourth)
             : gpuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, static_cast<size_t*>(third));
}

MNEME_RUNTIME_API Status gpuGraphAddDependencies_v2(void* graph, void* const* from, void* const* to,
                                                    const void*, size_t count) {
  return changeEdges(graph, from, to, count, true);
}

MNEME_RUNTIME_API Status gpuGraphAddDependencies(void* graph, void* const* from, void* const* to,
                                                 uintptr_t fourth, size_t fifth) {
  return changeEdges(graph, from, to, edgesHaveData() ? fifth : fourth, true);
}

MNEME_RUNTIME_API Status gpuGraphRemoveDependencies_v2(void* graph, void* const* from,
                                                       void* const* to, const void*, size_t count) {
  return changeEdges(graph, from, to, count, false);
}

MNEME_RUNTIME_API Status gpuGraphRemoveDependencies(void* graph, void* const* from, void* const* to,
                                                    uintptr_t fourth, size_t fifth) {
  return changeEdges(graph, from, to, edgesHaveData() ? fifth : fourth, false);
}

MNEME_RUNTIME_API Status gpuGraphDebugDotPrint(void* handle, const char* path, unsigned) {
  return withGraphs([&] {
    const auto graph = findGraph(handle);
    FILE* file = graph && path ? std::fopen(path, "w") : nullptr;
    if (!file)
      return Status::InvalidValue;
    writeDot(file, *graph, "graph_1", true);
    const bool isWritten = std::ferror(file) == 0;
    return std::fclose(file) == 0 && isWritten ? Status::Success : Status::OperatingSystem;
  });
}
