#include "runtime/emulator/runtimes/core/graph.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/emulator/runtimes/core/handle_table.h"

namespace mneme::cpu_runtime {
namespace {

HandleTable<Graph>& graphs() {
  static auto* table = new HandleTable<Graph>;
  return *table;
}

std::unordered_set<void*>& liveNodes() {
  static auto* nodes = new std::unordered_set<void*>;
  return *nodes;
}

/// Graphs of nodes that the application has asked for; the nodes own them.
std::unordered_map<void*, std::weak_ptr<Graph>>& children() {
  static auto* table = new std::unordered_map<void*, std::weak_ptr<Graph>>;
  return *table;
}

using NodeMap = std::unordered_map<const Node*, Node*>;

std::unordered_map<const Node*, size_t> positions(const Graph& graph) {
  std::unordered_map<const Node*, size_t> found;
  for (size_t index = 0; index < graph.nodes().size(); ++index)
    found[graph.nodes()[index].get()] = index;
  return found;
}

/// Returns a copy that later changes of the original do not affect.
Work copyOf(const Work& work) {
  const auto* child = std::get_if<ChildWork>(&work);
  if (!child)
    return work;
  auto graph = child->graph->clone();
  graph->isChild = true;
  return ChildWork{std::move(graph)};
}

} // namespace

std::recursive_mutex& graphLock() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

NodeType typeOf(const Work& work) noexcept {
  static constexpr NodeType types[] = {
      NodeType::Kernel,   NodeType::Memcpy, NodeType::Memset,    NodeType::Host,
      NodeType::Graph,    NodeType::Empty,  NodeType::WaitEvent, NodeType::EventRecord,
      NodeType::MemAlloc, NodeType::MemFree};
  return types[work.index()];
}

Graph::~Graph() {
  const std::lock_guard lock(graphLock());
  for (const auto& node : nodes_)
    liveNodes().erase(node.get());
  for (const auto& [object, count] : userObjects)
    releaseUserObject(object, count);
  if (isChild)
    children().erase(this);
}

Node& Graph::add(Work work, std::vector<Node*> dependencies) {
  auto node = std::make_shared<Node>();
  node->graph = this;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  liveNodes().insert(node.get());
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

void Graph::remove(Node& node) {
  for (const auto& other : nodes_)
    std::erase(other->dependencies, &node);
  liveNodes().erase(&node);
  std::erase_if(nodes_, [&](const auto& one) { return one.get() == &node; });
}

bool Graph::hasMemory() const {
  return std::ranges::any_of(
      nodes_, [](const auto& node) { return node->work.index() >= Work(AllocWork{}).index(); });
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>();
  copy->original = this;
  NodeMap clones;
  for (const auto& node : nodes_) {
    Node& made = copy->add(copyOf(node->work), {});
    made.original = node.get();
    made.isEnabled = node->isEnabled;
    clones[node.get()] = &made;
  }
  for (const auto& node : nodes_)
    for (const Node* dependency : node->dependencies)
      clones[node.get()]->dependencies.push_back(clones.at(dependency));
  for (const auto& [object, count] : userObjects)
    if (retainUserObject(object, count))
      copy->userObjects[object] = count;
  return copy;
}

std::vector<Node*> Graph::order() const {
  std::unordered_map<const Node*, size_t> open;
  std::unordered_map<const Node*, std::vector<Node*>> dependents;
  std::vector<Node*> ordered;
  for (const auto& node : nodes_) {
    open[node.get()] = node->dependencies.size();
    for (const Node* dependency : node->dependencies)
      dependents[dependency].push_back(node.get());
    if (node->dependencies.empty())
      ordered.push_back(node.get());
  }
  for (size_t index = 0; index < ordered.size(); ++index)
    for (Node* dependent : dependents[ordered[index]])
      if (--open[dependent] == 0)
        ordered.push_back(dependent);
  if (ordered.size() < nodes_.size())
    ordered.clear();
  return ordered;
}

void* registerGraph(std::shared_ptr<Graph> graph) {
  if (!graph->isChild)
    return graphs().add(std::move(graph));
  children()[graph.get()] = graph;
  return graph.get();
}

std::shared_ptr<Graph> findGraph(void* handle) {
  if (const auto child = children().find(handle); child != children().end())
    return child->second.lock();
  return graphs().find(handle);
}

bool destroyGraph(void* handle) {
  const auto graph = graphs().find(handle); // destroyed after the table is unlocked
  return graph && graphs().remove(handle);
}

Node* findNode(void* handle) {
  return liveNodes().contains(handle) ? static_cast<Node*>(handle) : nullptr;
}

bool findNodes(const Graph& graph, void* const* handles, size_t count, std::vector<Node*>& nodes) {
  if (count > 0 && !handles)
    return false;
  for (size_t index = 0; index < count; ++index) {
    Node* node = findNode(handles[index]);
    if (!node || node->graph != &graph || std::ranges::find(nodes, node) != nodes.end())
      return false;
    nodes.push_back(node);
  }
  return true;
}

UpdateResult compareShapes(const Graph& first, const Graph& second, Node** differs) {
  const auto found = [&](Node* node, UpdateResult result) {
    if (differs && node)
      *differs = node;
    return result;
  };
  const auto before = positions(first), after = positions(second);
  for (size_t index = 0; index < second.nodes().size(); ++index) {
    Node* right = second.nodes()[index].get();
    if (index >= first.nodes().size())
      return found(right, UpdateResult::TopologyChanged);
    const Node& left = *first.nodes()[index];
    std::vector<size_t> leftEdges, rightEdges;
    for (const Node* node : left.dependencies)
      leftEdges.push_back(before.at(node));
    for (const Node* node : right->dependencies)
      rightEdges.push_back(after.at(node));
    std::ranges::sort(leftEdges);
    std::ranges::sort(rightEdges);
    if (leftEdges != rightEdges)
      return found(right, UpdateResult::TopologyChanged);
    if (left.work.index() != right->work.index())
      return found(right, UpdateResult::NodeTypeChanged);
    if (const auto* child = std::get_if<ChildWork>(&right->work))
      if (const auto result =
              compareShapes(*std::get<ChildWork>(left.work).graph, *child->graph, nullptr);
          result != UpdateResult::Success)
        return found(right, result);
  }
  return first.nodes().size() == second.nodes().size() ? UpdateResult::Success
                                                       : UpdateResult::TopologyChanged;
}

} // namespace mneme::cpu_runtime
