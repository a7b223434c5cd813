#include "runtime/recorder/executable_graph.h"

#include <algorithm>
#include <ranges>
#include <unordered_set>

#include "runtime/core/base/error.h"
#include "runtime/core/base/last_error.h"
#include "runtime/recorder/graph_bodies.h"

namespace mneme::record {
namespace {

constexpr unsigned long long kUseNodePriority = 8, kDeviceLaunch = 4; // flags of all vendors
constexpr const char* kInBody =
    "it runs in the body of a conditional node of a graph, and is not recorded there";
constexpr const char* kInGraph =
    "it runs in a graph in a graph that has conditional nodes, and is not recorded there";

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
    if (node.bodies.size() != old.bodies.size())
      throw Error(ErrorCode::Unsupported, "it has other nodes now");
    for (size_t body = 0; body < node.bodies.size(); ++body)
      inherit(*node.bodies[body], *old.bodies[body]);
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
         std::ranges::all_of(body.nodes, [](const auto& node) {
           return (!node->child || isChain(*node->child)) &&
                  std::ranges::all_of(node->bodies,
                                      [](const auto& inside) { return isChain(*inside); });
         });
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

  /// `exec` is the program's.
  void cut(const GraphBody& body, void* exec) {
    if (body.isRebuilt)
      cutAround(body, exec);
    else
      cut(body);
  }
  std::vector<RunnablePart> take() { return std::move(parts_); }

private:
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

  /// Wanted nodes run outside of the program's executable graph, with what has to run before them
  /// or behind them there.
  void cutAround(const GraphBody& body, void* exec) {
    std::unordered_set<const GraphNode*> leaving;
    const auto join = [&](const GraphNode* node, const GraphNode* because, NodePlace place) {
      if (node->place == place &&
          (node->isWanted || (because && because->place == place && leaving.contains(because))))
        leaving.insert(node);
    };
    std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> before, behind;
    for (const auto& [from, to] : body.edges) {
      before[body.nodes[to].get()].push_back(body.nodes[from].get());
      behind[body.nodes[from].get()].push_back(body.nodes[to].get());
    }
    const auto follow = [&](auto&& order, auto& others, NodePlace place) {
      for (const GraphNode* node : order) {
        join(node, nullptr, place);
        for (const GraphNode* one : others[node])
          join(node, one, place);
      }
    };
    follow(body.order | std::views::reverse, behind, NodePlace::Before);
    follow(body.order, before, NodePlace::Behind);
    std::vector<void*> without;
    for (const GraphNode* node : leaving)
      if (!node->isOff && !is(*node, NodeKind::Empty))
        without.push_back(node->original);
    addLeaving(body, leaving, NodePlace::Before);
    parts_.emplace_back(functions_, exec, std::move(without));
    addLeaving(body, leaving, NodePlace::Behind);
  }

  void addLeaving(const GraphBody& body, const std::unordered_set<const GraphNode*>& leaving,
                  NodePlace place) {
    std::vector<GraphNode*> run;
    for (GraphNode* node : body.order) {
      if (node->place != place || !leaving.contains(node))
        continue;
      if (node->isWanted) {
        add(body, std::exchange(run, {}));
        add(body, {node});
      } else {
        run.push_back(node);
      }
    }
    add(body, run);
  }

  /// Nodes that follow each other in the order: what is between two of them is among them.
  void add(const GraphBody& body, const std::vector<GraphNode*>& run) {
    if (run.empty())
      return;
    void *copy = nullptr, *exec = nullptr;
    checkGraphCall(functions_.clone(&copy, body.graph), "copying it");
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
    checkGraphCall(status, "making a part of it runnable");
    if (run.front()->isWanted)
      parts_.back().kernel = run.front();
  }

  /// Leaves only these nodes in the copy.
  std::vector<void*> keep(void* copy, const std::vector<GraphNode*>& run) {
    std::vector<void*> kept;
    for (const GraphNode* node : run) {
      void* found = nullptr;
      checkGraphCall(functions_.findInClone(&found, node->handle, copy),
                     "finding a node in its copy");
      kept.push_back(found);
    }
    const std::unordered_set<const void*> stays(kept.begin(), kept.end());
    for (void* node : nodesOf(functions_, copy))
      if (!stays.contains(node))
        checkGraphCall(functions_.destroyNode(node), "removing a node of its copy");
    return kept;
  }

  const GraphFunctions& functions_;
  const unsigned long long flags_;
  std::vector<RunnablePart> parts_;
};

} // namespace

RunnablePart::RunnablePart(const GraphFunctions& functions, void* exec, std::vector<void*> without)
    : functions_(&functions), exec_(exec), isOfProgram_(true), without_(std::move(without)) {
  const int status = leaveOut(); // now, when the graph can still be launched as it is
  if (status == 0)
    putBack(without_.size());
  if (!isPutBack_)
    throw Error(ErrorCode::Unsupported, ExecutableGraph::kIncomplete);
  checkGraphCall(status, "leaving out a node");
}

RunnablePart::~RunnablePart() {
  // What was launched stays as it was then, and the vendor frees it when it has run.
  if (exec_ && !isOfProgram_)
    functions_->destroyExec(exec_);
}

int RunnablePart::leaveOut() noexcept {
  for (size_t count = 0; count < without_.size(); ++count)
    if (const int status = functions_->setEnabled(exec_, without_[count], 0); status != 0) {
      putBack(count);
      return status;
    }
  return 0;
}

/// The first ones of them.
void RunnablePart::putBack(size_t count) noexcept {
  const KeepsLastError keeps(functions_->peekAtLastError, functions_->getLastError);
  for (size_t index = 0; index < count; ++index)
    if (functions_->setEnabled(exec_, without_[index], 1) != 0)
      isPutBack_ = false;
}

int RunnablePart::launch(void* stream) {
  if (const int status = leaveOut(); status != 0)
    return status;
  const int status = functions_->launch(exec_, stream);
  putBack(without_.size());
  return status;
}

ExecutableGraph::ExecutableGraph(void* graph, void* exec, unsigned long long flags,
                                 const GraphFunctions& functions, KnownKernels known,
                                 const char* whyNot)
    : functions_(functions), known_(std::move(known)), source_(graph), exec_(exec),
      flags_(flags & kUseNodePriority) {
  const KeepsLastError keeps(functions.peekAtLastError, functions.getLastError);
  addFunctions(functions, graph, known_.isKnown, unreadable_, inBodies_);
  if (std::ranges::none_of(unreadable_, known_.isKnown) &&
      std::ranges::none_of(inBodies_, known_.isKnown))
    whyNot_ = kForeign;
  else if (flags & kDeviceLaunch)
    whyNot_ = "kernels may launch it";
  else
    whyNot_ = whyNot ? whyNot : whyNotCopied(functions, graph);
  if (whyNot_)
    return;
  try {
    body_ = copyGraph(functions, graph, known_.mayLeave);
  } catch (const Error&) {
    if (!record::hasConditions(functions, graph))
      throw;
    whyNot_ = kWhole; // its kernels are named one by one
    return;
  }
  keep(*body_);
  needsSource_ = hasConditions();
  nameStaying(graph);
}

/// Finds the kernels that no copy has: `graph` is what the executable graph runs now.
void ExecutableGraph::nameStaying(void* graph) {
  std::vector<const void*> others;
  unreadable_.clear();
  inChildren_.clear();
  inBodies_.clear();
  inChildrenOfBodies_.clear();
  areStayingNamed = false;
  if (!hasConditions())
    return;
  addFunctions(functions_, graph, known_.isKnown, others, inBodies_);
  addChildren(graph, inChildren_);
}

/// Finds the kernels of graphs in the graph, and in the bodies of its conditional nodes.
void ExecutableGraph::addChildren(void* graph, std::vector<const void*>& inChildren) {
  std::vector<const void*> others;
  for (void* node : nodesOf(functions_, graph)) {
    const int kind = kindOf(functions_, node);
    void* child = nullptr;
    if (kind == static_cast<int>(NodeKind::Child) && functions_.childGraph(node, &child) == 0)
      addFunctions(functions_, child, known_.isKnown, inChildren, others);
    else if (kind == static_cast<int>(NodeKind::Conditional))
      for (void* body : bodiesOf(node))
        addChildren(body, inChildrenOfBodies_);
  }
}

std::vector<std::pair<const void*, const char*>> ExecutableGraph::staying() const {
  std::vector<std::pair<const void*, const char*>> all;
  const auto add = [&](const std::vector<const void*>& functions, const char* why) {
    for (const void* function : functions)
      all.emplace_back(function, why);
  };
  add(inChildren_, kInGraph);
  if (isChosen)
    add(inChildrenOfBodies_, kInGraph);
  else
    add(inBodies_, kInBody);
  return all;
}

const char* const ExecutableGraph::kLost =
    "it was changed in a way that the recorder could not follow";
const char* const ExecutableGraph::kGoesOn =
    "an earlier launch of it went on while the program did";
const char* const ExecutableGraph::kForeign = "none was built with mneme";
const char* const ExecutableGraph::kAsked = "MNEME_GRAPHS is 'whole'";
const char* const ExecutableGraph::kWhole = "it cannot be launched in parts";
const char* const ExecutableGraph::kIncomplete =
    "nodes that were left out of a launch could not be put back, and later launches lack them";

void ExecutableGraph::lose(const char* why) noexcept {
  if (!whyNot_)
    whyNot_ = why;
}

void ExecutableGraph::keep(GraphBody& body) {
  for (const auto& node : body.nodes) {
    byOriginal_[node->original] = node.get();
    if (node->child)
      keep(*node->child);
    for (const auto& inside : node->bodies)
      keep(*inside);
  }
}

void ExecutableGraph::nodeEnds(void* original) noexcept {
  if (needsSource_ && byOriginal_.contains(original))
    lose();
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
  if (goesOn_)
    return;
  GraphNode* const node = find(original);
  const KeepsLastError keeps(functions_.peekAtLastError, functions_.getLastError);
  if (!node)
    return;
  node->isRead = false;
  if (node->isStandIn)
    return;
  const bool isOutside = node->place == NodePlace::Before || node->place == NodePlace::Behind;
  if (change(node->handle) != 0)
    lose();
  else if (isOutside && !canLeave(functions_, *node, node->handle, known_.mayLeave))
    placeNodes(*body_, known_.mayLeave);
}

void ExecutableGraph::setOff(void* original, bool isOff) {
  if (GraphNode* const node = goesOn_ ? nullptr : find(original)) {
    node->isOff = isOff;
    node->isWanted = false; // nothing decides about nodes that are off
  }
}

void ExecutableGraph::setChild(void* original, void* graph) {
  GraphNode* const node = goesOn_ ? nullptr : find(original);
  if (!node)
    return;
  if (!node->child) { // in a graph that is copied node by node, nothing replaces it
    if (!is(*node, NodeKind::Child))
      return lose();
    node->isStandIn = true; // from now on
    isChosen = areStayingNamed = false;
    return;
  }
  const KeepsLastError keeps(functions_.peekAtLastError, functions_.getLastError);
  auto child = cloneGraph(functions_, graph);
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
  auto body = copyGraph(functions_, graph, known_.mayLeave);
  inherit(*body, *body_);
  isPaired_ = isPaired_ && isChain(*body);
  if (!isPaired_ && (hasOff(*body) || body->isRebuilt))
    lose();
  keep(*body);
  body_ = std::move(body);
  nameStaying(graph);
}

void ExecutableGraph::abandon() noexcept {
  const std::function<void(GraphBody&)> leave = [&](GraphBody& body) {
    body.isOwned = false;
    for (const auto& node : body.nodes) {
      if (node->child)
        leave(*node->child);
      for (const auto& inside : node->bodies)
        leave(*inside);
    }
  };
  if (body_)
    leave(*body_);
  if (outliving)
    outliving->graph = nullptr;
}

std::vector<RunnablePart> ExecutableGraph::cut() const {
  const KeepsLastError keeps(functions_.peekAtLastError, functions_.getLastError);
  Cutter cutter(functions_, flags_);
  cutter.cut(*body_, exec_);
  return cutter.take();
}

} // namespace mneme::record
