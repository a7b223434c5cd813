// Room emulator/runtimes: graphs as data: nodes, their work and their dependencies. Independent of
// streams and of the API's parameters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/emulator/runtimes/core/graph_memory.h"
#include "runtime/emulator/runtimes/core/graph_types.h"
#include "runtime/emulator/runtimes/core/status.h"

namespace mneme::cpu_runtime {

class Graph;
struct Variant;
struct Node;

/// Copies of a kernel's arguments. Immutable.
struct KernelArguments {
  std::vector<std::max_align_t> bytes;
  std::vector<void*> pointers; ///< into bytes, one for each argument
};

struct KernelWork {
  const void* function = nullptr;
  Dim3 grid{1, 1, 1};
  Dim3 block{1, 1, 1};
  Dim3 cluster{1, 1, 1};
  size_t sharedBytes = 0;
  bool isCooperative = false;
  std::shared_ptr<const KernelArguments> arguments;
  std::shared_ptr<Variant> variant;          ///< runs instead, if a tuned kernel was captured
  std::map<int, LaunchAttribute> attributes; ///< as set, by id
};
struct CopyWork {
  Memcpy3DParms params{};
};
struct FillWork {
  MemsetParams params{};
  size_t depth = 1;
  size_t slicePitch = 0; ///< bytes from one plane to the next, if there are more
};
struct HostWork {
  HostNodeParams params{};
};
struct ChildWork {
  std::shared_ptr<Graph> graph; ///< the node's own
};
struct EmptyWork {};
struct WaitWork {
  void* event = nullptr;
};
struct RecordWork {
  void* event = nullptr;
};
struct AllocWork {
  std::shared_ptr<GraphMemory> memory;
  MemPoolProps props{};
};
struct FreeWork {
  void* pointer = nullptr;
};
using Work = std::variant<KernelWork, CopyWork, FillWork, HostWork, ChildWork, EmptyWork, WaitWork,
                          RecordWork, AllocWork, FreeWork>;

NodeType typeOf(const Work& work) noexcept;

struct Node {
  Graph* graph = nullptr;
  Work work;
  std::vector<Node*> dependencies; ///< of the same graph, in the order of their addition
  const Node* original = nullptr;  ///< the node this was cloned from; may have been destroyed
  bool isEnabled = true;           ///< in an executable graph
};

/// Owns its nodes. Callers must hold graphLock(), except to release a graph or to read one that no
/// other thread can reach.
class Graph : public std::enable_shared_from_this<Graph> {
public:
  ~Graph();
  /// Returns the nodes in the order of their creation.
  const std::vector<std::shared_ptr<Node>>& nodes() const noexcept { return nodes_; }
  Node& add(Work work, std::vector<Node*> dependencies);
  void remove(Node& node);
  std::shared_ptr<Graph> clone() const;
  /// Returns a topological order of the nodes; empty if there is a cycle.
  std::vector<Node*> order() const;

  /// Whether a node allocates memory or frees some: it is not copied, and made runnable once.
  bool hasMemory() const;
  std::weak_ptr<void> runnable; ///< made of it, if it has memory
  bool isChild = false;         ///< belongs to a node, which destroys it
  const Graph* original = nullptr;
  /// The application's objects that live as long as the graph, with the number of references to
  /// each.
  std::map<void*, unsigned> userObjects;

private:
  std::vector<std::shared_ptr<Node>> nodes_;
};

/// The lock that every function must hold while it accesses graphs or captures.
std::recursive_mutex& graphLock();

/// The application's handles. Lookups return null for invalid and stale handles.
void* registerGraph(std::shared_ptr<Graph> graph);
std::shared_ptr<Graph> findGraph(void* handle);
/// Also returns false for the graph of a child graph node.
bool destroyGraph(void* handle);
/// A node's handle is its address.
Node* findNode(void* handle);

/// Finds the nodes of `count` handles; returns false if one is not a node of `graph` or occurs
/// twice.
bool findNodes(const Graph& graph, void* const* handles, size_t count, std::vector<Node*>& nodes);

/// Compares whether the graphs have the same nodes, paired in order of creation, and the same
/// edges. `differs` (may be null) receives the first node of `second` without a partner or with
/// another type.
UpdateResult compareShapes(const Graph& first, const Graph& second, Node** differs);

/// Reference-counted objects (the API's user objects). Dropping the last reference destroys the
/// object.
bool retainUserObject(void* object, unsigned count);
bool releaseUserObject(void* object, unsigned count);

/// Does the work of a node now. The caller has already waited for the work that must come first.
Status runWork(const Work& work);
/// Returns whether a kernel of prepared work may wait for threads other than its own.
bool mayWaitForHost(const Work& work);
/// Makes the checks that are possible before a launch, and makes kernels ready to run.
Status prepareWork(const Work& work);

} // namespace mneme::cpu_runtime
