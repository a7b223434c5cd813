#include "runtime/recorder/graph_copy.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string>
#include <unordered_map>

#include "runtime/core/base/error.h"
#include "runtime/recorder/graph_bodies.h"

namespace mneme::record {
namespace {

/// The node of the copy; vendors may not know it for graphs in graphs, whose nodes keep their
/// order.
void* partnerOf(const GraphFunctions& functions, void* original, const GraphBody& body,
                const std::vector<void*>& copies, size_t index) {
  void* found = nullptr;
  if (functions.findInClone(&found, original, body.graph) == 0 && found)
    return found;
  return copies.at(index);
}

/// `graph` is that of the nodes' handles.
void readEdges(GraphBody& body, void* graph) {
  size_t count = 0;
  const auto& functions = body.functions;
  checkGraphCall(functions.getEdges(graph, nullptr, nullptr, &count), "listing its edges");
  std::vector<void*> from(count), to(count);
  if (count > 0)
    checkGraphCall(functions.getEdges(graph, from.data(), to.data(), &count), "listing its edges");
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
      checkGraphCall(functions.childGraph(node->handle, &child), "finding a graph in it");
      checkGraphCall(functions.childGraph(node->original, &originalChild), "finding a graph in it");
      node->child = readBody(functions, child, originalChild, false);
    }
    body->nodes.push_back(std::move(node));
  }
  readEdges(*body, graph);
  sortNodes(*body);
  return body;
}

/// A kernel node's function, as the interface of the vendor's names it that knows it.
const void* functionOf(const GraphFunctions& functions, void* node, const IsKernel& isKnown) {
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

bool canSimplyLeave(const GraphNode& node) {
  return is(node, NodeKind::Copy) || is(node, NodeKind::Fill);
}

/// Whether a graph in the graph can be run as a whole in a copy: none of its kernels sets
/// conditions.
bool isWholeChild(const GraphFunctions& functions, const GraphNode& node,
                  const IsKernel& mayLeave) {
  void* child = nullptr;
  if (!is(node, NodeKind::Child) || functions.childGraph(node.original, &child) != 0 ||
      whyNotCopied(functions, child, false))
    return false;
  std::vector<const void*> kernels, none;
  addFunctions(functions, child, mayLeave, kernels, none);
  return std::ranges::all_of(kernels, mayLeave);
}

/// Makes the copy of one node, whose handle is that of the program's until then.
void copyNode(GraphBody& body, GraphNode& node, const std::vector<void*>& after,
              const IsKernel& mayLeave) {
  const auto& functions = body.functions;
  void* copy = nullptr;
  const bool isLike =
      (is(node, NodeKind::Kernel) || canSimplyLeave(node) || is(node, NodeKind::Host) ||
       isWholeChild(functions, node, mayLeave)) &&
      functions.addLike(&copy, body.graph, after.data(), after.size(), node.original) == 0;
  node.isStandIn = !isLike;
  if (!isLike)
    checkGraphCall(functions.addEmpty(&copy, body.graph, after.data(), after.size()),
                   "copying a node");
  node.handle = copy;
}

std::unique_ptr<GraphBody> rebuildGraph(const GraphFunctions& functions, void* graph,
                                        const IsKernel& mayLeave);

/// Copies the bodies of a conditional node, each as a graph of its own.
void copyBodies(const GraphFunctions& functions, GraphNode& node, const IsKernel& mayLeave) {
  const auto condition = conditionOf(node.original);
  if (!functions.canChoose() || !condition)
    return;
  node.condition = *condition;
  try {
    for (void* body : bodiesOf(node.original))
      node.bodies.push_back(rebuildGraph(functions, body, mayLeave));
  } catch (const Error&) {
    node.bodies.clear();
  }
}

std::unique_ptr<GraphBody> rebuildGraph(const GraphFunctions& functions, void* graph,
                                        const IsKernel& mayLeave) {
  auto body = std::make_unique<GraphBody>(functions);
  body->isRebuilt = true;
  for (void* original : nodesOf(functions, graph)) {
    auto node = std::make_unique<GraphNode>();
    node->handle = node->original = original;
    node->kind = kindOf(functions, original);
    body->nodes.push_back(std::move(node));
  }
  readEdges(*body, graph);
  sortNodes(*body);
  checkGraphCall(functions.create(&body->graph, 0), "making a graph");
  body->isOwned = true;
  std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> earlier;
  for (const auto& [from, to] : body->edges)
    earlier[body->nodes[to].get()].push_back(body->nodes[from].get());
  for (GraphNode* node : body->order) {
    std::vector<void*> after;
    for (const GraphNode* one : earlier[node])
      after.push_back(one->handle);
    copyNode(*body, *node, after, mayLeave);
    if (is(*node, NodeKind::Conditional))
      copyBodies(functions, *node, mayLeave);
  }
  placeNodes(*body, mayLeave);
  return body;
}

} // namespace

GraphBody::~GraphBody() {
  if (isOwned)
    functions.destroy(graph);
}

void checkGraphCall(int status, const char* what) {
  if (status != 0)
    throw Error(ErrorCode::Unsupported,
                std::string(what) + " failed (status " + std::to_string(status) + ")");
}

std::vector<void*> nodesOf(const GraphFunctions& functions, void* graph) {
  size_t count = 0;
  checkGraphCall(functions.getNodes(graph, nullptr, &count), "listing its nodes");
  std::vector<void*> nodes(count);
  if (count > 0)
    checkGraphCall(functions.getNodes(graph, nodes.data(), &count), "listing its nodes");
  nodes.resize(std::min(count, nodes.size()));
  return nodes;
}

int kindOf(const GraphFunctions& functions, void* node) {
  int type = -1;
  checkGraphCall(functions.nodeType(node, &type), "asking for the type of a node");
  return type - functions.firstType;
}

bool is(const GraphNode& node, NodeKind kind) { return node.kind == static_cast<int>(kind); }

bool hasConditions(const GraphFunctions& functions, void* graph) {
  return std::ranges::any_of(nodesOf(functions, graph), [&](void* node) {
    return kindOf(functions, node) == static_cast<int>(NodeKind::Conditional);
  });
}

bool canLeave(const GraphFunctions& functions, const GraphNode& one, void* node,
              const IsKernel& mayLeave) {
  if (is(one, NodeKind::Empty))
    return true; // launching it twice does nothing
  return !one.isStandIn &&
         (canSimplyLeave(one) ||
          (is(one, NodeKind::Kernel) && mayLeave(functionOf(functions, node, mayLeave))));
}

/// What runs before has only such nodes before it, and what runs behind only such nodes behind it.
void placeNodes(GraphBody& body, const IsKernel& mayLeave) {
  std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> before, behind;
  for (const auto& [from, to] : body.edges) {
    before[body.nodes[to].get()].push_back(body.nodes[from].get());
    behind[body.nodes[from].get()].push_back(body.nodes[to].get());
  }
  const auto all = [](const std::vector<const GraphNode*>& nodes, NodePlace place) {
    return std::ranges::all_of(nodes, [&](const GraphNode* one) { return one->place == place; });
  };
  std::vector<GraphNode*> rest;
  for (GraphNode* node : body.order) {
    const bool canGo = canLeave(body.functions, *node, node->handle, mayLeave);
    const bool isBefore = canGo && all(before[node], NodePlace::Before);
    node->place = isBefore ? NodePlace::Before : NodePlace::Among;
    if (canGo && !isBefore)
      rest.push_back(node);
  }
  for (GraphNode* node : rest | std::views::reverse)
    if (all(behind[node], NodePlace::Behind))
      node->place = NodePlace::Behind;
  std::vector<GraphNode*> order;
  for (const NodePlace place : {NodePlace::Before, NodePlace::Among, NodePlace::Behind})
    std::ranges::copy_if(body.order, std::back_inserter(order),
                         [&](const GraphNode* node) { return node->place == place; });
  body.order = std::move(order);
}

const char* whyNotCopied(const GraphFunctions& functions, void* graph, bool isOutermost) {
  const bool isRebuilt = isOutermost && functions.canRebuild() && hasConditions(functions, graph);
  for (void* node : nodesOf(functions, graph)) {
    const int kind = kindOf(functions, node);
    void* child = nullptr;
    if (kind == static_cast<int>(NodeKind::Alloc) || kind == static_cast<int>(NodeKind::Free))
      return "it allocates or frees memory";
    if (kind == static_cast<int>(NodeKind::Conditional) && !isRebuilt)
      return "it has conditional nodes";
    if (NodeKernel kernel; kind == static_cast<int>(NodeKind::Kernel) &&
                           functions.readKernel(node, kernel) == 0 && kernel.isChangedByKernels)
      return "kernels may change it";
    if (!isRebuilt && kind == static_cast<int>(NodeKind::Child) &&
        functions.childGraph(node, &child) == 0)
      if (const char* why = whyNotCopied(functions, child, false))
        return why;
  }
  return nullptr;
}

void addFunctions(const GraphFunctions& functions, void* graph, const IsKernel& isKnown,
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

std::unique_ptr<GraphBody> cloneGraph(const GraphFunctions& functions, void* graph) {
  void* copy = nullptr;
  checkGraphCall(functions.clone(&copy, graph), "copying it");
  try {
    return readBody(functions, copy, graph, true);
  } catch (...) {
    functions.destroy(copy);
    throw;
  }
}

std::unique_ptr<GraphBody> copyGraph(const GraphFunctions& functions, void* graph,
                                     const IsKernel& mayLeave) {
  return functions.canRebuild() && hasConditions(functions, graph)
             ? rebuildGraph(functions, graph, mayLeave)
             : cloneGraph(functions, graph);
}

} // namespace mneme::record
