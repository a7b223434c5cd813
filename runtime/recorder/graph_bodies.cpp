#include "runtime/recorder/graph_bodies.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace mneme::record {
namespace {

/// Handles of nodes that are gone are those of others at most until these are noted.
struct Bodies {
  std::mutex mutex;
  std::unordered_map<const void*, std::vector<void*>> ofNodes;
  std::unordered_set<const void*> graphs;
};

Bodies& bodies() {
  static auto* all = new Bodies; // threads may still run when the process ends
  return *all;
}

} // namespace

void noteBodies(const void* node, std::span<void* const> graphs) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  all.ofNodes[node].assign(graphs.begin(), graphs.end());
  all.graphs.insert(graphs.begin(), graphs.end());
}

std::vector<void*> bodiesOf(const void* node) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  const auto found = all.ofNodes.find(node);
  return found == all.ofNodes.end() ? std::vector<void*>() : found->second;
}

bool isBody(const void* graph) {
  Bodies& all = bodies();
  const std::lock_guard lock(all.mutex);
  return all.graphs.contains(graph);
}

} // namespace mneme::record
