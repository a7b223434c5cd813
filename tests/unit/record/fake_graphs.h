// A vendor of graphs for tests. A node is a number, and running it writes the number down.
#pragma once

#include <functional>
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
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  bool isNested = false;

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
  std::vector<int> ran;
};
extern World world;

/// They find nodes in copies as CUDA is documented to: not those of graphs in graphs.
const mneme::record::GraphFunctions& functions();
/// With these graphs can be made node by node.
const mneme::record::GraphFunctions& functionsThatRebuild();
/// By functions of kernels: they lie in an array, by number.
std::function<bool(const void*)> isNumberBelow(int limit);

} // namespace fake
