#include "runtime/recorder/graph_bodies.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace mneme::record {
namespace {

struct Node {
  const void* graph;
  std::vector<void*> bodies;
  Condition condition;
};

/// Vendors number the handles of each graph.
using Handle = std::pair<const void*, uint64_t>;

struct Bodies {
  std::mutex mutex;
  std::unordered_map<const void*, Node> nodes;
  std::unordered_set<const void*> graphs; ///< all bodies
  std::map<Handle, unsigned> handles;     ///< the values at a launch

  /// Returns the graph that has this one as a body; null if it is none.
  const void* around(const void* body) const {
    for (const auto& [handle, node] : nodes)
      if (std::ranges::find(node.bodies, body) != node.bodies.end())
        return node.graph;
    return nullptr;
  }

  void forgetNode(const void* node) {
    const auto found = nodes.find(node);
    if (found == nodes.end())
      return;
    const std::vector<void*> gone = std::move(found->second.bodies);
    nodes.erase(found);
    for (const void* body : gone) {
      graphs.erase(body);
      forgetGraph(body);
    }
  }

  void forgetGraph(const void* graph) {
    std::erase_if(handles, [&](const auto& item) { return item.first.first == graph; });
    const auto isThere = [&](const auto& item) { return item.second.graph == graph; };
    for (auto next = std::ranges::find_if(nodes, isThere); next != nodes.end();
         next = std::ranges::find_if(nodes, isThere))
      forgetNode(next->first);
  }
};

Bodies& bodies() {
  static auto* all = new Bodies; // threads may still run when the process ends
  return *all;
}

} // namespace

void noteBodies(const void* graph, const void* node, std::span<void* const> graphs,
                const Condition& condition) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  all.forgetNode(node);
  all.nodes[node] = {graph, {graphs.begin(), graphs.end()}, condition};
  all.graphs.insert(graphs.begin(), graphs.end());
}

void noteHandle(const void* graph, uint64_t handle, unsigned value) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  all.handles[{graph, handle}] = value;
}

void forgetBodies(const void* graph) noexcept {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  all.forgetGraph(graph);
}

void forgetBodiesOf(const void* node) noexcept {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  all.forgetNode(node);
}

void bodiesMove(const void* child, const void* graph) noexcept {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  for (auto& [node, known] : all.nodes)
    if (known.graph == child)
      known.graph = graph;
}

std::vector<void*> bodiesOf(const void* node) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  const auto found = all.nodes.find(node);
  return found == all.nodes.end() ? std::vector<void*>() : found->second.bodies;
}

std::optional<Condition> conditionOf(const void* node) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  const auto found = all.nodes.find(node);
  if (found == all.nodes.end())
    return std::nullopt;
  Condition condition = found->second.condition;
  for (const void* graph = found->second.graph; graph; graph = all.around(graph))
    if (const auto handle = all.handles.find({graph, condition.handle});
        handle != all.handles.end()) {
      condition.value = handle->second;
      return condition;
    }
  return std::nullopt;
}

bool isBody(const void* graph) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  return all.graphs.contains(graph);
}

} // namespace mneme::record
