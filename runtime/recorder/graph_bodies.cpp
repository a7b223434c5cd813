#include "runtime/recorder/graph_bodies.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace mneme::record {
namespace {

struct Node {
  const void* graph;
  std::vector<void*> bodies;
};

struct Bodies {
  std::mutex mutex;
  std::unordered_map<const void*, Node> nodes;
  std::unordered_set<const void*> graphs; ///< all bodies

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

void noteBodies(const void* graph, const void* node, std::span<void* const> graphs) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  all.forgetNode(node);
  all.nodes[node] = {graph, {graphs.begin(), graphs.end()}};
  all.graphs.insert(graphs.begin(), graphs.end());
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

bool isBody(const void* graph) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  return all.graphs.contains(graph);
}

} // namespace mneme::record
