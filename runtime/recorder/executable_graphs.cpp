#include "runtime/recorder/executable_graph.h"

namespace mneme::record {

std::shared_ptr<ExecutableGraph> ExecutableGraphs::find(void* exec) {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(exec);
  return found == graphs_.end() ? nullptr : found->second;
}

void ExecutableGraphs::set(void* exec, std::shared_ptr<ExecutableGraph> graph) {
  const std::lock_guard lock(mutex_);
  std::swap(graphs_[exec], graph);
}

std::shared_ptr<ExecutableGraph> ExecutableGraphs::forget(void* exec) {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(exec);
  if (found == graphs_.end())
    return nullptr;
  auto graph = std::move(found->second);
  graphs_.erase(found);
  return graph;
}

void ExecutableGraphs::forgetAll() {
  const std::lock_guard lock(mutex_);
  for (const auto& [exec, graph] : graphs_)
    graph->abandon();
  graphs_.clear();
}

void ExecutableGraphs::nodeEnds(void* node) {
  const std::lock_guard lock(mutex_);
  for (const auto& [exec, made] : graphs_)
    made->nodeEnds(node);
}

bool ExecutableGraphs::outlive(void* graph) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<OutlivingGraph> one;
  for (const auto& [exec, made] : graphs_) {
    if (made->outliving || !made->needs(graph))
      continue;
    if (!one)
      one = std::make_shared<OutlivingGraph>(made->functions(), graph);
    made->outliving = one;
  }
  return one != nullptr;
}

} // namespace mneme::record
