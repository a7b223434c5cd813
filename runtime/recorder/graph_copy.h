// Room recorder: graphs of the program's as the recorder reads and copies them. Vendors copy a
// graph in one call, except one with conditional nodes. What such a graph has beside these nodes is
// made anew, node by node.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/recorder/graph_functions.h"
#include "runtime/recorder/kernel_catalog.h"

namespace mneme::record {

/// A kernel in a graph, as far as the session knows it.
struct GraphKernel {
  NodeKernel node;
  const void* handle = nullptr; ///< the kernel's first; null if it is unknown
  std::shared_ptr<const KernelInfo> info;
  std::vector<void*> unpacked; ///< the arguments, if the node has them in one buffer
  bool setsConditions = true;  ///< or may do so
  void** args() const noexcept {
    return node.args ? node.args : const_cast<void**>(unpacked.data());
  }
};

/// Whether a node can run outside of the program's executable graph, which alone has conditional
/// nodes and their bodies.
enum class NodePlace : uint8_t {
  Anywhere, ///< the copy has all nodes
  Before,   ///< it can, before the executable graph is launched without it
  Among,    ///< it cannot
  Behind    ///< it can, afterwards
};

struct GraphBody;

struct GraphNode {
  void* handle = nullptr;   ///< in the copy
  void* original = nullptr; ///< what the program calls it
  int kind = -1;            ///< NodeKind, or another
  bool isOff = false;       ///< left out of launches
  bool isReplaced = false;  ///< `child` is not what the copy has
  bool isWanted = false;    ///< to be launched by itself
  bool isRead = false;      ///< whether `kernel` is as the node is now
  bool isNamed = false;     ///< as one that stays in its graph, and is not recorded there
  GraphKernel kernel;
  NodePlace place = NodePlace::Anywhere;
  bool isStandIn = false; ///< the copy has an empty node in its place
  std::unique_ptr<GraphBody> child;
  Condition condition;                            ///< of a conditional node
  std::vector<std::unique_ptr<GraphBody>> bodies; ///< its own; none if they cannot be made again
};

/// A graph and the graphs in it.
struct GraphBody {
  explicit GraphBody(const GraphFunctions& vendor) : functions(vendor) {}
  ~GraphBody();
  GraphBody(const GraphBody&) = delete;
  GraphBody& operator=(const GraphBody&) = delete;

  const GraphFunctions& functions;
  void* graph = nullptr;
  bool isOwned = false;
  bool isRebuilt = false;                        ///< made node by node: no vendor copies it
  std::vector<std::unique_ptr<GraphNode>> nodes; ///< as the vendor lists them
  std::vector<std::pair<size_t, size_t>> edges;  ///< by index, sorted
  std::vector<GraphNode*> order;                 ///< one in which they can run
};

using IsKernel = std::function<bool(const void* function)>;

/// \throws Error if the status is not 0
void checkGraphCall(int status, const char* what);
std::vector<void*> nodesOf(const GraphFunctions& functions, void* graph);
int kindOf(const GraphFunctions& functions, void* node);
bool is(const GraphNode& node, NodeKind kind);

bool hasConditions(const GraphFunctions& functions, void* graph);
/// Whether the node can run outside of the program's executable graph, if that has conditional
/// nodes. `node` is the program's, or its copy.
bool canLeave(const GraphFunctions& functions, const GraphNode& one, void* node,
              const IsKernel& mayLeave);
/// Finds the places of the nodes of a graph with conditional nodes.
void placeNodes(GraphBody& body, const IsKernel& mayLeave);
/// Null if every kind of node can be run in a copy of its graph, or beside it. Graphs in a graph
/// are copied by the vendor, with what is around them.
const char* whyNotCopied(const GraphFunctions& functions, void* graph, bool isOutermost = true);
/// Appends the functions of kernels in the graph, as the interface of the vendor's names them for
/// which `isKnown` holds, and those of kernels in bodies of its conditional nodes.
void addFunctions(const GraphFunctions& functions, void* graph, const IsKernel& isKnown,
                  std::vector<const void*>& kernels, std::vector<const void*>& inBodies);
/// Copies a graph in one call of the vendor's. \throws Error
std::unique_ptr<GraphBody> cloneGraph(const GraphFunctions& functions, void* graph);
/// Copies a graph that is in no other one. Kernels for which `mayLeave` is false stay in the
/// executable graph, if that has conditional nodes. \throws Error
std::unique_ptr<GraphBody> copyGraph(const GraphFunctions& functions, void* graph,
                                     const IsKernel& mayLeave);

} // namespace mneme::record
