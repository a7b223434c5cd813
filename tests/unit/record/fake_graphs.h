// A vendor of graphs for tests. A node is a number, and running it writes the number down.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "runtime/recorder/graph_functions.h"

namespace fake {

struct Graph;

struct Node {
  int kind = 0;
  int number = 0;
  Graph* graph = nullptr;
  const Node* original = nullptr;
  std::vector<Node*> after;
  std::unique_ptr<Graph> child;
  mneme::record::Condition condition; ///< of a conditional node; of a kernel, what it sets
  std::vector<std::unique_ptr<Graph>> bodies;
  unsigned* word = nullptr; ///< that a fill sets to its number
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  bool isNested = false;
  std::vector<unsigned> values; ///< at a launch, of the handles, which count from 1 on

  Node* add(int number, std::vector<Node*> after = {}, int kind = 0) {
    nodes.push_back(std::make_unique<Node>());
    Node& node = *nodes.back();
    node.kind = kind, node.number = number, node.graph = this, node.after = std::move(after);
    return &node;
  }
  Node* addChild(std::unique_ptr<Graph> child, std::vector<Node*> after = {}) {
    Node* node = add(0, std::move(after), 4);
    child->isNested = true;
    node->child = std::move(child);
    return node;
  }
  /// The node has this many bodies.
  Node* addConditional(const mneme::record::Condition& condition, std::vector<Node*> after = {});
  std::unique_ptr<Graph> copy() const;
};

/// What exists and what was run.
struct World {
  std::set<Graph*> copies;
  int execs = 0;
  bool refusesCopies = false;
  bool refusesNodes = false;    ///< empty ones
  bool refusesSwitches = false; ///< of nodes that are to be off
  bool keepsOff = false;        ///< what is off once
  bool refusesConditions = false;
  std::vector<int> ran;
  std::map<int, std::vector<unsigned>> sets; ///< by number of a kernel: what it sets, run by run
};
extern World world;

/// They find nodes in copies as CUDA is documented to: not those of graphs in graphs.
const mneme::record::GraphFunctions& functions();
/// With these graphs can be made node by node.
const mneme::record::GraphFunctions& functionsThatRebuild();
/// With these they can have conditional nodes.
const mneme::record::GraphFunctions& functionsThatChoose();
/// By functions of kernels: they lie in an array, by number.
std::function<bool(const void*)> isNumberBelow(int limit);

} // namespace fake
