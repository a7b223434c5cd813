#include "runtime/recorder/executable_graph.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/core/base/error.h"
#include "runtime/core/base/last_error.h"
#include "runtime/recorder/graph_bodies.h"

namespace mneme::record {
namespace {

constexpr unsigned long long kUseNodePriority = 8, kDeviceLaunch = 4; // flags of all vendors

void check(int status, const char* what) {
  if (status != 0)
    throw Error(ErrorCode::Unsupported,
                std::string(what) + " failed (status " + std::to_string(status) + ")");
}

std::vector<void*> nodesOf(const GraphFunctions& functions, void* graph) {
  size_t count = 0;
  check(functions.getNodes(graph, nullptr, &count), "listing its nodes");
  std::vector<void*> nodes(count);
  if (count > 0)
    check(functions.getNodes(graph, nodes.data(), &count), "listing its nodes");
  nodes.resize(std::min(count, nodes.size()));
  return nodes;
}

int kindOf(const GraphFunctions& functions, void* node) {
  int type = -1;
  check(functions.nodeType(node, &type), "asking for the type of a node");
  return type - functions.firstType;
}

bool is(const GraphNode& node, NodeKind kind) { return node.kind == static_cast<int>(kind); }

/// The node of the copy; vendors may not know it for graphs in graphs, whose nodes keep their
/// order.
void* partnerOf(const GraphFunctions& functions, void* original, const GraphBody& body,
                const std::vector<void*>& copies, size_t index) {
  void* found = nullptr;
  if (functions.findInClone(&found, original, body.graph) == 0 && found)
    return found;
  return copies.at(index);
}

void readEdges(GraphBody& body) {
  size_t count = 0;
  const auto& functions = body.functions;
  check(functions.getEdges(body.graph, nullptr, nullptr, &count), "listing its edges");
  std::vector<void*> from(count), to(count);
  if (count > 0)
    check(functions.getEdges(body.graph, from.data(), to.data(), &count), "listing its edges");
  std::unordered_map<const void*, size_t> places;
  for (size_t index = 0; index < body.nodes.size(); ++index)
    places[body.nodes[index]->handle] = index;
  for (size_t index = 0; index < std::min(count, from.size()); ++index)
    body.edges.emplace_back(places.at(from[index]), places.at(to[index]));
  std::ranges::sort(body.edges);
}

void sortNodes(GraphBody& body) {
  std::vector<size_t> open(body.nodes.size());
  std::vector<std::vector<size_t>> next(body.nodes.size());
  for (const auto& [from, to] : body.edges) {
    ++open[to];
    next[from].push_back(to);
  }
  std::vector<size_t> ready;
  for (size_t index = 0; index < open.size(); ++index)
    if (open[index] == 0)
      ready.push_back(index);
  for (size_t at = 0; at < ready.size(); ++at) {
    body.order.push_back(body.nodes[ready[at]].get());
    for (const size_t index : next[ready[at]])
      if (--open[index] == 0)
        ready.push_back(index);
  }
  if (body.order.size() != body.nodes.size())
    throw Error(ErrorCode::Unsupported, "its nodes wait for each other");
}

/// `graph` is a copy of `original`.
std::unique_ptr<GraphBody> readBody(const GraphFunctions& functions, void* graph, void* original,
                                    bool isOwned) {
  auto body = std::make_unique<GraphBody>(functions);
  body->graph = graph;
  body->isOwned = isOwned;
  const std::vector<void*> copies = nodesOf(functions, graph);
  const std::vector<void*> originals = nodesOf(functions, original);
  if (copies.size() != originals.size())
    throw Error(ErrorCode::Unsupported, "its copy has other nodes");
  for (size_t index = 0; index < originals.size(); ++index) {
    auto node = std::make_unique<GraphNode>();
    node->original = originals[index];
    node->handle = partnerOf(functions, node->original, *body, copies, index);
    node->kind = kindOf(functions, node->handle);
    if (node->kind != kindOf(functions, node->original))
      throw Error(ErrorCode::Unsupported, "its copy has other nodes");
    if (is(*node, NodeKind::Child)) {
      void *child = nullptr, *originalChild = nullptr;
      check(functions.childGraph(node->handle, &child), "finding a graph in it");
      check(functions.childGraph(node->original, &originalChild), "finding a graph in it");
      node->child = readBody(functions, child, originalChild, false);
    }
    body->nodes.push_back(std::move(node));
  }
  readEdges(*body);
  sortNodes(*body);
  return body;
}

std::unique_ptr<GraphBody> copyGraph(const GraphFunctions& functions, void* graph) {
  void* copy = nullptr;
  check(functions.clone(&copy, graph), "copying it");
  try {
    return readBody(functions, copy, graph, true);
  } catch (...) {
    functions.destroy(copy);
    throw;
  }
}

/// Null if every kind of node can be run in a copy of its graph.
const char* whyNotOf(const GraphFunctions& functions, void* graph) {
  for (void* node : nodesOf(functions, graph)) {
    const int kind = kindOf(functions, node);
    void* child = nullptr;
    if (kind == static_cast<int>(NodeKind::Alloc) || kind == static_cast<int>(NodeKind::Free))
      return "it allocates or frees memory";
    if (kind == static_cast<int>(NodeKind::Conditional))
      return "it has conditional nodes";
    if (NodeKernel kernel; kind == static_cast<int>(NodeKind::Kernel) &&
                           functions.readKernel(node, kernel) == 0 && kernel.isChangedByKernels)
      return "kernels may change it";
    if (kind == static_cast<int>(NodeKind::Child) && functions.childGraph(node, &child) == 0)
      if (const char* why = whyNotOf(functions, child))
        return why;
  }
  return nullptr;
}

using IsKnown = std::function<bool(const void* function)>;

/// A kernel node's function, as the interface of the vendor's names it that knows it.
const void* functionOf(const GraphFunctions& functions, void* node, const IsKnown& isKnown) {
  const void* function = nullptr;
  for (const auto read : {functions.readKernel, functions.readKernelElse}) {
    NodeKernel kernel;
    if (!read || read(node, kernel) != 0)
      continue;
    if (isKnown(kernel.function))
      return kernel.function;
    function = function ? function : kernel.function;
  }
  return function;
}

/// Those of the graph, and those of bodies in it.
void addFunctions(const GraphFunctions& functions, void* graph, const IsKnown& isKnown,
                  std::vector<const void*>& kernels, std::vector<const void*>& inBodies) {
  for (void* node : nodesOf(functions, graph)) {
    const int kind = kindOf(functions, node);
    void* child = nullptr;
    if (kind == static_cast<int>(NodeKind::Kernel))
      kernels.push_back(functionOf(functions, node, isKnown));
    else if (kind == static_cast<int>(NodeKind::Child) && functions.childGraph(node, &child) == 0)
      addFunctions(functions, child, isKnown, kernels, inBodies);
    else if (kind == static_cast<int>(NodeKind::Conditional))
      for (void* body : bodiesOf(node))
        addFunctions(functions, body, isKnown, inBodies, inBodies);
  }
}

/// The nodes of `after` become those that the program calls as it called those of `before`.
void inherit(GraphBody& after, const GraphBody& before) {
  if (after.nodes.size() != before.nodes.size() || after.edges != before.edges)
    throw Error(ErrorCode::Unsupported, "it has other nodes now");
  for (size_t index = 0; index < after.nodes.size(); ++index) {
    GraphNode& node = *after.nodes[index];
    const GraphNode& old = *before.nodes[index];
    if (node.kind != old.kind)
      throw Error(ErrorCode::Unsupported, "it has other nodes now");
    node.original = old.original;
    node.isOff = old.isOff;
    if (node.child)
      inherit(*node.child, *old.child);
  }
}

/// Whether each node has its place by the edges alone. Vendors pair the nodes of two graphs by the
/// order in which edges were made, which nobody tells.
bool isChain(const GraphBody& body) {
  std::unordered_set<size_t> from, to;
  for (const auto& [before, after] : body.edges)
    if (!from.insert(before).second || !to.insert(after).second)
      return false;
  return body.edges.size() + 1 >= body.nodes.size() &&
         std::ranges::all_of(
             body.nodes, [](const auto& node) { return !node->child || isChain(*node->child); });
}

bool hasOff(const GraphBody& body) {
  return std::ranges::any_of(body.nodes, [](const auto& node) {
    return node->isOff || (node->child && hasOff(*node->child));
  });
}

/// Whether a graph in a graph has nodes whose state its copy cannot be given.
bool isSpecial(const GraphNode& node) {
  return node.isOff || node.isReplaced || node.isWanted ||
         (node.child && std::ranges::any_of(node.child->order,
                                            [](const GraphNode* one) { return isSpecial(*one); }));
}

void addKernels(const GraphBody& body, std::vector<GraphNode*>& kernels) {
  for (GraphNode* node : body.order)
    if (node->child)
      addKernels(*node->child, kernels);
    else if (is(*node, NodeKind::Kernel) && !node->isOff)
      kernels.push_back(node);
}

/// Makes one sequence of a graph and the graphs in it.
class Sequence {
public:
  /// Nodes that wait for nothing in `body` wait for `before`. Returns those that nothing in it
  /// waits for.
  std::vector<size_t> add(const GraphBody& body, const std::vector<size_t>& before) {
    std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> earlier;
    std::unordered_set<const GraphNode*> isWaitedFor;
    for (const auto& [from, to] : body.edges) {
      earlier[body.nodes[to].get()].push_back(body.nodes[from].get());
      isWaitedFor.insert(body.nodes[from].get());
    }
    std::unordered_map<const GraphNode*, std::vector<size_t>> ends;
    std::vector<size_t> last;
    for (const GraphNode* node : body.order) {
      std::vector<size_t> after = earlier.contains(node) ? std::vector<size_t>() : before;
      for (const GraphNode* one : earlier[node])
        after.insert(after.end(), ends[one].begin(), ends[one].end());
      ends[node] = addNode(*node, std::move(after));
      if (!isWaitedFor.contains(node))
        last.insert(last.end(), ends[node].begin(), ends[node].end());
    }
    return body.order.empty() ? before : last;
  }
  std::vector<SequenceNode> take() { return std::move(nodes_); }

private:
  /// Returns what waits for the node waits for.
  std::vector<size_t> addNode(const GraphNode& node, std::vector<size_t> after) {
    std::ranges::sort(after);
    after.erase(std::ranges::unique(after).begin(), after.end());
    if (node.isOff)
      return after;
    if (node.child)
      return add(*node.child, after);
    nodes_.push_back({&node, std::move(after)});
    return {nodes_.size() - 1};
  }

  std::vector<SequenceNode> nodes_;
};

class Cutter {
public:
  Cutter(const GraphFunctions& functions, unsigned long long flags)
      : functions_(functions), flags_(flags) {}

  void cut(const GraphBody& body) {
    std::vector<GraphNode*> run;
    for (GraphNode* node : body.order) {
      const bool isEntered = node->child && isSpecial(*node);
      if (isEntered || node->isWanted) {
        add(body, std::exchange(run, {}));
        if (isEntered)
          cut(*node->child);
        else
          add(body, {node});
      } else {
        run.push_back(node);
      }
    }
    add(body, run);
  }
  std::vector<RunnablePart> take() { return std::move(parts_); }

private:
  /// Nodes that follow each other in the order: what is between two of them is among them.
  void add(const GraphBody& body, const std::vector<GraphNode*>& run) {
    if (run.empty())
      return;
    void *copy = nullptr, *exec = nullptr;
    check(functions_.clone(&copy, body.graph), "copying it");
    int status = 0;
    try {
      const std::vector<void*> kept = keep(copy, run);
      status = functions_.instantiate(&exec, copy, flags_);
      for (size_t index = 0; index < run.size() && status == 0; ++index)
        if (run[index]->isOff)
          status = functions_.setEnabled(exec, kept[index], 0);
    } catch (...) {
      functions_.destroy(copy);
      throw;
    }
    functions_.destroy(copy);
    if (exec)
      parts_.emplace_back(functions_, exec);
    check(status, "making a part of it runnable");
    if (run.front()->isWanted)
      parts_.back().kernel = run.front();
  }

  /// Leaves only these nodes in the copy.
  std::vector<void*> keep(void* copy, const std::vector<GraphNode*>& run) {
    std::vector<void*> kept;
    for (const GraphNode* node : run) {
      void* found = nullptr;
      check(functions_.findInClone(&found, node->handle, copy), "finding a node in its copy");
      kept.push_back(found);
    }
    const std::unordered_set<const void*> stays(kept.begin(), kept.end());
    for (void* node : nodesOf(functions_, copy))
      if (!stays.contains(node))
        check(functions_.destroyNode(node), "removing a node of its copy");
    return kept;
  }

  const GraphFunctions& functions_;
  const unsigned long long flags_;
  std::vector<RunnablePart> parts_;
};

} // namespace

GraphBody::~GraphBody() {
  if (isOwned)
    functions.destroy(graph);
}

RunnablePart::~RunnablePart() {
  // The vendor frees what is running when it has run.
  if (exec_)
    functions_->destroyExec(exec_);
}

ExecutableGraph::ExecutableGraph(void* graph, unsigned long long flags,
                                 const GraphFunctions& functions,
                                 const std::function<bool(const void* function)>& isKnown,
                                 const char* whyNot)
    : functions_(functions), flags_(flags & kUseNodePriority) {
  const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
  addFunctions(functions, graph, isKnown, unreadable_, inBodies_);
  if (std::ranges::none_of(unreadable_, isKnown) && std::ranges::none_of(inBodies_, isKnown))
    whyNot_ = kForeign;
  else if (flags & kDeviceLaunch)
    whyNot_ = "kernels may launch it";
  else
    whyNot_ = whyNot ? whyNot : whyNotOf(functions, graph);
  if (whyNot_)
    return;
  unreadable_.clear();
  body_ = copyGraph(functions, graph);
  keep(*body_);
}

const char* const ExecutableGraph::kLost =
    "it was changed in a way that the recorder could not follow";
const char* const ExecutableGraph::kForeign = "none was built with mneme";
const char* const ExecutableGraph::kAsked = "MNEME_GRAPHS is 'whole'";
const char* const ExecutableGraph::kWhole = "it cannot be launched in parts";

void ExecutableGraph::lose(const char* why) noexcept {
  if (!whyNot_)
    whyNot_ = why;
}

void ExecutableGraph::keep(GraphBody& body) {
  for (const auto& node : body.nodes) {
    byOriginal_[node->original] = node.get();
    if (node->child)
      keep(*node->child);
  }
}

GraphNode* ExecutableGraph::find(void* original) {
  const auto found = byOriginal_.find(original);
  if (found == byOriginal_.end() || !isPaired_)
    lose();
  return found == byOriginal_.end() ? nullptr : found->second;
}

std::vector<GraphNode*> ExecutableGraph::kernels() const {
  std::vector<GraphNode*> kernels;
  if (body_)
    addKernels(*body_, kernels);
  return kernels;
}

std::vector<SequenceNode> ExecutableGraph::sequence() const {
  Sequence sequence;
  if (body_)
    sequence.add(*body_, {});
  return sequence.take();
}

void ExecutableGraph::changeNode(void* original, const std::function<int(void* node)>& change) {
  GraphNode* const node = find(original);
  const KeepsLastError keeps(functions_.peekAtLastError, functions_.getLastError);
  if (node && change(node->handle) != 0)
    lose();
  if (node)
    node->isRead = false;
}

void ExecutableGraph::setOff(void* original, bool isOff) {
  if (GraphNode* const node = find(original))
    node->isOff = isOff;
}

void ExecutableGraph::setChild(void* original, void* graph) {
  GraphNode* const node = find(original);
  if (!node)
    return;
  const KeepsLastError keeps(functions_.peekAtLastError, functions_.getLastError);
  auto child = copyGraph(functions_, graph);
  inherit(*child, *node->child);
  isPaired_ = isPaired_ && isChain(*child);
  keep(*child);
  node->child = std::move(child);
  node->isReplaced = true;
}

void ExecutableGraph::update(void* graph) {
  if (whyNot_)
    return;
  const KeepsLastError keeps(functions_.peekAtLastError, functions_.getLastError);
  auto body = copyGraph(functions_, graph);
  inherit(*body, *body_);
  isPaired_ = isPaired_ && isChain(*body);
  if (!isPaired_ && hasOff(*body))
    lose();
  keep(*body);
  body_ = std::move(body);
}

void ExecutableGraph::abandon() noexcept {
  const std::function<void(GraphBody&)> leave = [&](GraphBody& body) {
    body.isOwned = false;
    for (const auto& node : body.nodes)
      if (node->child)
        leave(*node->child);
  };
  if (body_)
    leave(*body_);
}

std::vector<RunnablePart> ExecutableGraph::cut() const {
  const KeepsLastError keeps(functions_.peekAtLastError, functions_.getLastError);
  Cutter cutter(functions_, flags_);
  cutter.cut(*body_);
  return cutter.take();
}

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

} // namespace mneme::record
