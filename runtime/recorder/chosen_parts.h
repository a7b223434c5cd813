// Room recorder: graphs with conditional nodes, launched by the host: it runs the bodies that the
// kernels choose. What is launched together is a graph of its own. Handles of conditions are
// numbers within a graph: each of these graphs has the program's again, with conditional nodes that
// tell the host what kernels have set. Independent of the session.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "runtime/recorder/executable_graph.h"

namespace mneme::record {

/// Why a graph cannot be launched so; null if it can.
const char* whyNotChosen(const GraphFunctions& functions, const GraphBody& graph);

/// Whether a kernel among these nodes, or in their bodies, may set conditions. It must have been
/// read.
bool setsConditions(const std::vector<const GraphNode*>& nodes);

/// Whether a node that is launched as a whole leaves conditions with values that nothing tells: its
/// own one, or those of nodes in its bodies. That matters where it may run again.
bool leavesUntold(const GraphNode& conditional);

/// In a body, which may run again: whether the next node cannot be launched together with nodes
/// before it, as the part would not tell what is set for a node that it has.
bool isParted(const std::vector<const GraphNode*>& before, const GraphNode& next);

/// Returns a word of the host that the device reaches. It is never given back, as work may be on
/// its way. \throws Error
unsigned* takeWord(const GraphFunctions& functions);

/// One launch of a graph. What it launches runs in one stream.
class ChosenParts {
public:
  using Run = std::vector<const GraphNode*>; ///< nodes of one graph, as they follow each other
  /// Waits for the stream. What it throws is thrown
  using Wait = std::function<void()>;
  /// \throws Error if the graph cannot be made runnable, as a whole
  ChosenParts(ExecutableGraph& graph, void* stream, Wait wait);

  /// What is launched from now on runs in another stream.
  void moveTo(void* stream, Wait wait);
  /// Launches nodes of `body` together. Returns the vendor's status.
  int launch(const GraphBody& body, const Run& run);
  /// The same in a body that may run again: what is set for its next time is known then. May wait
  /// for the stream. \throws Error
  int launchInBody(const GraphBody& body, const Run& run);
  /// Makes them runnable before that, which may wait for the stream. \throws Error
  void prepare(const GraphBody& body, const Run& run) { partOf(body, run); }
  /// Returns the index of the body that runs now, or the number of bodies if none does; may wait
  /// for the stream. \throws Error
  size_t bodyOf(const GraphNode& conditional);

private:
  /// What is known of a handle.
  struct Handle {
    Condition condition;
    unsigned value = 0;
    unsigned* word = nullptr; ///< where the device tells the value
    bool isTold = false;      ///< it does, once what was launched has run
  };
  struct Part {
    RunnablePart part;
    std::set<uint64_t> told;   ///< handles
    std::set<uint64_t> passed; ///< those of conditional nodes in it
  };
  using Key = std::pair<Run, std::vector<unsigned>>; ///< nodes, and the values before them

  void addHandles(const GraphBody& graph);
  void settle();
  int launchBodies(const GraphNode& conditional);
  Part& partOf(const GraphBody& body, const Run& run);
  RunnablePart make(const GraphBody& body, const Run& run, const std::vector<unsigned>& values,
                    const std::set<uint64_t>& told);
  void addNodes(void* graph, const GraphBody& body, const Run& run, std::vector<void*>& nodes);
  void* addNode(void* graph, const std::vector<void*>& after, const GraphNode& node);
  void addTelling(void* graph, const std::vector<void*>& after, const Handle& handle);

  ExecutableGraph& graph_;
  const GraphFunctions& functions_;
  void* stream_;
  Wait wait_;
  std::map<uint64_t, Handle> handles_;
  std::map<Key, Part> parts_;
};

} // namespace mneme::record
