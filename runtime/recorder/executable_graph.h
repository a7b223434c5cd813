// Room recorder: what the program's executable graphs hold. No vendor tells that: each has a copy
// of the graph that it was made from, which is changed as the program changes the executable graph.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/recorder/graph_copy.h"

namespace mneme::record {

/// A part of a graph, made runnable. Null if there is nothing to run.
class RunnablePart {
public:
  RunnablePart(const GraphFunctions& functions, void* exec) : functions_(&functions), exec_(exec) {}
  /// The program's own executable graph without these nodes. It has them all but while it is
  /// launched, so that a launch which is never made leaves it as it was. \throws Error if the
  /// vendor does not leave them out
  RunnablePart(const GraphFunctions& functions, void* exec, std::vector<void*> without);
  ~RunnablePart();
  RunnablePart(RunnablePart&& other) noexcept
      : functions_(other.functions_), exec_(std::exchange(other.exec_, nullptr)),
        isOfProgram_(other.isOfProgram_), isPutBack_(other.isPutBack_),
        without_(std::move(other.without_)), kernel(other.kernel) {}
  RunnablePart(const RunnablePart&) = delete;
  RunnablePart& operator=(const RunnablePart&) = delete;

  /// Returns the vendor's status.
  int launch(void* stream);
  /// False if the vendor keeps leaving out nodes after a launch.
  bool isPutBack() const noexcept { return isPutBack_; }

private:
  int leaveOut() noexcept;
  void putBack(size_t count) noexcept;

  const GraphFunctions* functions_;
  void* exec_;
  bool isOfProgram_ = false, isPutBack_ = true;
  std::vector<void*> without_;

public:
  GraphNode* kernel = nullptr; ///< the part is this kernel alone, which is wanted
};

/// A node among those that a launch runs; `after` are places in that sequence.
struct SequenceNode {
  const GraphNode* node = nullptr;
  std::vector<size_t> after;
};

/// A graph that the program has destroyed, and whose nodes still are needed.
struct OutlivingGraph {
  OutlivingGraph(const GraphFunctions& vendor, void* handle) : functions(vendor), graph(handle) {}
  ~OutlivingGraph() {
    if (graph)
      functions.destroy(graph);
  }
  OutlivingGraph(const OutlivingGraph&) = delete;
  OutlivingGraph& operator=(const OutlivingGraph&) = delete;

  const GraphFunctions& functions;
  void* graph; ///< null if the vendor has ended it
};

/// What the session knows of a graph's kernels, by function.
struct KnownKernels {
  IsKernel isKnown;
  IsKernel mayLeave = isKnown; ///< a graph that has conditional nodes: it sets none of them
};

/// Not thread-safe, as the vendor's graphs are not.
class ExecutableGraph : public std::enable_shared_from_this<ExecutableGraph> {
public:
  /// Copies the graph, of which the program has made `exec`, unless it has no kernel that is known,
  /// or `whyNot` says why no graph is launched in parts. \throws Error if that is impossible
  ExecutableGraph(void* graph, void* exec, unsigned long long flags,
                  const GraphFunctions& functions, KnownKernels known,
                  const char* whyNot = nullptr);

  /// Why its kernels cannot be launched one by one; null if they can.
  const char* whyNot() const noexcept { return whyNot_; }
  /// Call it when a change of the program's could not be followed, or parts of it cannot be made.
  void lose(const char* why = kLost) noexcept;
  /// A launch of it goes on in another stream, and needs what it holds: from now on it is not
  /// changed, nor launched in parts. The word is 1 once that launch has run.
  void freeze(const unsigned* word) noexcept {
    whyNot_ = kGoesOn;
    goesOn_ = word;
  }
  /// That word; null if there is none.
  const unsigned* goesOn() const noexcept { return goesOn_; }
  static const char* const kLost;
  static const char* const kGoesOn;
  static const char* const kForeign; ///< no kernel is known
  static const char* const kAsked;
  static const char* const kWhole;
  static const char* const kIncomplete; ///< nodes were not put back
  const GraphFunctions& functions() const noexcept { return functions_; }

  /// Returns the kernels that a launch runs, in an order in which they can; none if whyNot() was
  /// known from the start.
  std::vector<GraphNode*> kernels() const;
  /// Returns all nodes that a launch runs, in the same order, with what they wait for: those of
  /// graphs in the graph in place of these, and none that is off.
  std::vector<SequenceNode> sequence() const;
  /// Returns the kernels' functions in the other case.
  const std::vector<const void*>& unreadable() const noexcept { return unreadable_; }
  /// Returns those of kernels in graphs in a graph that has conditional nodes.
  const std::vector<const void*>& inChildren() const noexcept { return inChildren_; }
  /// Returns the functions of kernels that no launch in parts reaches, each with a sentence why.
  std::vector<std::pair<const void*, const char*>> staying() const;
  bool hasConditions() const noexcept { return body_ && body_->isRebuilt; }
  /// What its conditional nodes' bodies are copied to, too; null if whyNot() was known from the
  /// start.
  GraphBody* body() noexcept { return body_.get(); }
  unsigned long long flags() const noexcept { return flags_; }
  /// Whether launches in parts need the nodes of this graph of the program's.
  bool needs(const void* graph) const noexcept { return needsSource_ && graph == source_; }
  /// The program has removed a node of a graph. Ends launches in parts if they need it.
  void nodeEnds(void* original) noexcept;
  /// Returns those of kernels in bodies of conditional nodes.
  const std::vector<const void*>& inBodies() const noexcept { return inBodies_; }
  /// Calls `change` with the copy of a node of the program's. A status other than 0, or an unknown
  /// node, ends the recording of this graph's kernels.
  void changeNode(void* original, const std::function<int(void* node)>& change);
  /// A node that is off is left out of launches.
  void setOff(void* original, bool isOff);
  /// The node of a graph in the graph has another of the same shape from now on. In a graph with
  /// conditional nodes the program's executable graph alone has that. \throws Error
  void setChild(void* original, void* graph);
  /// Takes over another graph of the same shape. \throws Error
  void update(void* graph);

  /// Makes parts of it runnable that do together what it does: wanted kernels are parts of their
  /// own. \throws Error
  std::vector<RunnablePart> cut() const;

  /// Leaves its copies alone from now on: the vendor has ended them.
  void abandon() noexcept;

  /// Kernels that stay in it and are not recorded have been named.
  bool areStayingNamed = false;

  /// Its bodies are run by the host while kernels in them are to be recorded (chosen_parts.h). They
  /// are not if that was tried in vain.
  bool isChosen = false, isChosenInVain = false;
  unsigned launchesInVain = 0; ///< in a row, that were made so and recorded nothing

  /// The graph that it was made of, if the program has destroyed that.
  std::shared_ptr<OutlivingGraph> outliving;

  /// The stream of the latest launch, if that was made in parts, and its device.
  std::optional<void*> streamOfParts;
  unsigned deviceOfParts = 0;

private:
  GraphNode* find(void* original);
  void keep(GraphBody& body);
  void nameStaying(void* graph);
  void addChildren(void* graph, std::vector<const void*>& inChildren);

  const GraphFunctions& functions_;
  const KnownKernels known_;
  void* const source_; ///< the program's graph
  bool needsSource_ = false;
  void* const exec_; ///< the program's
  const char* whyNot_ = nullptr;
  const unsigned* goesOn_ = nullptr;
  bool isPaired_ = true; ///< whether it is certain which node the program means
  std::vector<const void*> unreadable_, inChildren_, inBodies_, inChildrenOfBodies_;
  unsigned long long flags_;
  std::unique_ptr<GraphBody> body_;
  std::unordered_map<void*, GraphNode*> byOriginal_;
};

/// By handle. Thread-safe.
class ExecutableGraphs {
public:
  std::shared_ptr<ExecutableGraph> find(void* exec);
  void set(void* exec, std::shared_ptr<ExecutableGraph> graph);
  /// Returns what is forgotten.
  std::shared_ptr<ExecutableGraph> forget(void* exec);
  /// After a reset, which has ended all of them.
  void forgetAll();
  /// The program has removed a node of a graph.
  void nodeEnds(void* node);
  /// The program destroys a graph. True if that has to wait until executable graphs end.
  bool outlive(void* graph);

private:
  std::mutex mutex_;
  std::unordered_map<void*, std::shared_ptr<ExecutableGraph>> graphs_;
};

} // namespace mneme::record
