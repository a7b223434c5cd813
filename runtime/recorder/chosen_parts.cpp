#include "runtime/recorder/chosen_parts.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "runtime/core/base/error.h"
#include "runtime/core/base/last_error.h"

namespace mneme::record {
namespace {

bool isSetter(const GraphNode& node) {
  return is(node, NodeKind::Kernel) && !node.isOff && node.kernel.setsConditions;
}

bool isOpenable(const GraphNode& node) { return is(node, NodeKind::Conditional) && !node.isOff; }

/// Calls `visit` with each node, and with those in bodies.
template <typename Visit> void visitAll(const GraphNode& node, const Visit& visit) {
  visit(node);
  if (!node.isOff)
    for (const auto& body : node.bodies)
      for (const auto& inside : body->nodes)
        visitAll(*inside, visit);
}

const char* whyNotNode(const GraphNode& node) {
  if (node.isOff || is(node, NodeKind::Empty))
    return nullptr;
  if (is(node, NodeKind::Conditional))
    return node.bodies.empty() || node.bodies.size() != node.condition.size
               ? "the bodies of a conditional node cannot be made again"
               : nullptr;
  return node.isStandIn ? "a node in it cannot be made again" : nullptr;
}

struct NewGraph {
  explicit NewGraph(const GraphFunctions& vendor) : functions(vendor) {
    checkGraphCall(functions.create(&graph, 0), "making a graph");
  }
  ~NewGraph() { functions.destroy(graph); }
  NewGraph(const NewGraph&) = delete;
  NewGraph& operator=(const NewGraph&) = delete;

  const GraphFunctions& functions;
  void* graph = nullptr;
};

} // namespace

const char* whyNotChosen(const GraphFunctions& functions, const GraphBody& graph) {
  if (!functions.canChoose())
    return "it cannot be made again";
  const char* why = nullptr;
  for (const auto& one : graph.nodes)
    visitAll(*one, [&](const GraphNode& node) {
      if (!why)
        why = whyNotNode(node);
    });
  return why;
}

bool setsConditions(const std::vector<const GraphNode*>& nodes) {
  bool isAny = false;
  for (const GraphNode* one : nodes)
    visitAll(*one, [&](const GraphNode& node) { isAny |= isSetter(node); });
  return isAny;
}

bool leavesUntold(const GraphNode& conditional) {
  if (!isOpenable(conditional))
    return false;
  if (conditional.condition.type != Condition::Type::While)
    return setsConditions({&conditional});
  // Its own is 0 behind it.
  return std::ranges::any_of(conditional.bodies, [](const auto& body) {
    return std::ranges::any_of(body->nodes, [](const auto& inside) { return isOpenable(*inside); });
  });
}

bool isParted(const std::vector<const GraphNode*>& before, const GraphNode& next) {
  if (isOpenable(next) && setsConditions(before))
    return true;
  return setsConditions({&next}) &&
         std::ranges::any_of(before, [](const GraphNode* one) { return isOpenable(*one); });
}

unsigned* takeWord(const GraphFunctions& functions) {
  constexpr size_t kWords = 1024;
  static std::mutex mutex;
  static unsigned *next = nullptr, *end = nullptr;
  const std::lock_guard lock(mutex);
  if (next == end) {
    next = functions.makeWords(kWords);
    end = next ? next + kWords : nullptr;
  }
  if (!next)
    throw Error(ErrorCode::Unsupported, "there is no memory for its conditions");
  return next++;
}

ChosenParts::ChosenParts(ExecutableGraph& graph, void* stream, Wait wait)
    : graph_(graph), functions_(graph.functions()), stream_(stream), wait_(std::move(wait)) {
  addHandles(*graph.body());
  const auto& all = graph.body()->order;
  prepare(*graph.body(), {all.begin(), all.end()});
}

void ChosenParts::moveTo(void* stream, Wait wait) {
  stream_ = stream;
  wait_ = std::move(wait);
}

void ChosenParts::addHandles(const GraphBody& graph) {
  for (const auto& one : graph.nodes)
    visitAll(*one, [&](const GraphNode& node) {
      if (is(node, NodeKind::Conditional))
        handles_[node.condition.handle] = {node.condition, node.condition.value,
                                           takeWord(functions_)};
    });
}

/// Takes over the values that the device tells.
void ChosenParts::settle() {
  const auto isTold = [](const auto& item) { return item.second.isTold; };
  if (std::ranges::none_of(handles_, isTold))
    return;
  wait_();
  for (auto& [name, handle] : handles_)
    if (std::exchange(handle.isTold, false))
      handle.value = *static_cast<volatile unsigned*>(handle.word);
}

size_t ChosenParts::bodyOf(const GraphNode& conditional) {
  const Handle& handle = handles_.at(conditional.condition.handle);
  if (handle.isTold)
    settle();
  if (conditional.condition.type != Condition::Type::Switch)
    return std::min<size_t>(handle.value != 0 ? 0 : 1, conditional.bodies.size());
  return std::min<size_t>(handle.value, conditional.bodies.size());
}

/// Vendors want one node for each handle, so the part tells those whose nodes it does not have.
ChosenParts::Part& ChosenParts::partOf(const GraphBody& body, const Run& run) {
  std::set<uint64_t> passed, told;
  for (const GraphNode* one : run)
    visitAll(*one, [&](const GraphNode& node) {
      if (is(node, NodeKind::Conditional) && !node.isOff)
        passed.insert(node.condition.handle);
    });
  std::vector<unsigned> values;
  if (setsConditions(run) || !passed.empty()) {
    settle();
    for (const auto& [name, handle] : handles_) {
      values.push_back(handle.value);
      if (!passed.contains(name))
        told.insert(name);
    }
  }
  const Key key{run, values};
  auto found = parts_.find(key);
  if (found == parts_.end())
    found = parts_.emplace(key, Part{make(body, run, values, told), told, passed}).first;
  return found->second;
}

int ChosenParts::launch(const GraphBody& body, const Run& run) {
  Part& made = partOf(body, run);
  for (const uint64_t one : made.told) {
    Handle& handle = handles_.at(one);
    const bool isSwitch = handle.condition.type == Condition::Type::Switch;
    *static_cast<volatile unsigned*>(handle.word) = isSwitch ? handle.condition.size : 0;
    handle.isTold = true;
  }
  for (const uint64_t one : made.passed)
    if (handles_.at(one).condition.type == Condition::Type::While)
      handles_.at(one).value = 0;
  return made.part.launch(stream_);
}

int ChosenParts::launchInBody(const GraphBody& body, const Run& run) {
  Run part;
  int status = 0;
  const auto launchPart = [&] {
    if (!part.empty() && status == 0)
      status = launch(body, part);
    part.clear();
  };
  for (const GraphNode* node : run) {
    const bool isOpen = leavesUntold(*node);
    if (isOpen || isParted(part, *node))
      launchPart();
    if (!isOpen)
      part.push_back(node);
    else if (status == 0)
      status = launchBodies(*node);
  }
  launchPart();
  return status;
}

int ChosenParts::launchBodies(const GraphNode& conditional) {
  int status = 0;
  do {
    const size_t index = bodyOf(conditional);
    if (index >= conditional.bodies.size())
      break;
    const GraphBody& body = *conditional.bodies[index];
    status = launchInBody(body, {body.order.begin(), body.order.end()});
  } while (status == 0 && conditional.condition.type == Condition::Type::While);
  return status;
}

RunnablePart ChosenParts::make(const GraphBody& body, const Run& run,
                               const std::vector<unsigned>& values,
                               const std::set<uint64_t>& told) {
  const KeepsLastError keeps(functions_.peekAtLastError, functions_.getLastError);
  const NewGraph made(functions_);
  auto next = handles_.begin(); // handles count from 1 on
  for (const unsigned value : values) {
    uint64_t handle = 0;
    checkGraphCall(functions_.createHandle(&handle, made.graph, value), "making a condition");
    if (handle != (next++)->first)
      throw Error(ErrorCode::Unsupported, "its conditions get other handles");
  }
  std::vector<void*> nodes;
  addNodes(made.graph, body, run, nodes);
  for (const uint64_t one : told)
    addTelling(made.graph, nodes, handles_.at(one));
  void* exec = nullptr;
  checkGraphCall(functions_.instantiate(&exec, made.graph, graph_.flags()),
                 "making a part of it runnable");
  return {functions_, exec};
}

void ChosenParts::addNodes(void* graph, const GraphBody& body, const Run& run,
                           std::vector<void*>& nodes) {
  std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> before;
  for (const auto& [from, to] : body.edges)
    before[body.nodes[to].get()].push_back(body.nodes[from].get());
  std::unordered_map<const GraphNode*, void*> copies;
  for (const GraphNode* node : run) {
    std::vector<void*> after;
    for (const GraphNode* one : before[node])
      if (const auto copy = copies.find(one); copy != copies.end())
        after.push_back(copy->second);
    nodes.push_back(copies[node] = addNode(graph, after, *node));
  }
}

void* ChosenParts::addNode(void* graph, const std::vector<void*>& after, const GraphNode& node) {
  void* copy = nullptr;
  if (node.isOff || is(node, NodeKind::Empty)) {
    checkGraphCall(functions_.addEmpty(&copy, graph, after.data(), after.size()), "copying a node");
    return copy;
  }
  if (!is(node, NodeKind::Conditional)) {
    checkGraphCall(functions_.addLike(&copy, graph, after.data(), after.size(), node.handle),
                   "copying a node");
    return copy;
  }
  std::vector<void*> bodies(node.condition.size);
  checkGraphCall(functions_.addConditional(&copy, graph, after.data(), after.size(), node.condition,
                                           bodies.data()),
                 "copying a conditional node");
  for (size_t index = 0; index < bodies.size(); ++index) {
    const GraphBody& body = *node.bodies[index];
    std::vector<void*> nodes;
    addNodes(bodies[index], body, {body.order.begin(), body.order.end()}, nodes);
  }
  return copy;
}

/// Adds what writes the value of a handle down.
void ChosenParts::addTelling(void* graph, const std::vector<void*>& after, const Handle& handle) {
  Condition condition = handle.condition;
  const bool isSwitch = condition.type == Condition::Type::Switch;
  if (!isSwitch) {
    condition.type = Condition::Type::If;
    condition.size = 1;
  }
  void* node = nullptr;
  std::vector<void*> bodies(condition.size);
  checkGraphCall(
      functions_.addConditional(&node, graph, after.data(), after.size(), condition, bodies.data()),
      "adding a conditional node");
  for (unsigned index = 0; index < condition.size; ++index)
    checkGraphCall(functions_.addFill(&node, bodies[index], handle.word, isSwitch ? index : 1),
                   "adding a node");
}

} // namespace mneme::record
