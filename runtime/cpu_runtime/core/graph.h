// Room cpu_runtime: graphs as data: nodes, what each does, and what it waits for. Knows
// nothing of streams and of the API's parameters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/cpu_runtime/core/graph_memory.h"
#include "runtime/cpu_runtime/core/graph_types.h"
#include "runtime/cpu_runtime/core/status.h"

namespace mneme::cpu_runtime {

class Graph;
struct Variant;
struct Node;

/// Copies of a kernel's arguments; never changed once made.
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
  std::shared_ptr<Variant> variant; ///< what is run instead, if a tuned kernel was captured
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
  std::vector<Node*> dependencies; ///< of the same graph, in the order in which they were added
  const Node* original = nullptr;  ///< what this was cloned from; may be gone
  bool isEnabled = true;           ///< in an executable graph
};

/// Owns its nodes. Callers hold graphLock(), but not to let go of one, or to look at one that is
/// theirs alone.
class Graph : public std::enable_shared_from_this<Graph> {
public:
  ~Graph();
  /// Nodes in the order of their creation.
  const std::vector<std::shared_ptr<Node>>& nodes() const noexcept { return nodes_; }
  Node& add(Work work, std::vector<Node*> dependencies);
  void remove(Node& node);
  std::shared_ptr<Graph> clone() const;
  /// An order in which no node comes before one it depends on; empty if there is none.
  std::vector<Node*> order() const;

  bool isChild = false; ///< belongs to a node, which destroys it
  const Graph* original = nullptr;
  /// Objects of the application that live as long as the graph: how often each was retained.
  std::map<void*, unsigned> userObjects;

private:
  std::vector<std::shared_ptr<Node>> nodes_;
};

/// Held by every function that looks at graphs or captures.
std::recursive_mutex& graphLock();

/// Handles of the application. Null for what is not, or no longer, one.
void* registerGraph(std::shared_ptr<Graph> graph);
std::shared_ptr<Graph> findGraph(void* handle);
/// False for a handle of a node's own graph as well.
bool destroyGraph(void* handle);
/// A node's handle is its address.
Node* findNode(void* handle);

/// The nodes behind `count` handles; false if one is no node of `graph` or comes twice.
bool findNodes(const Graph& graph, void* const* handles, size_t count, std::vector<Node*>& nodes);

/// Whether nodes of the two can be paired by order of creation, all edges alike; `differs` (may be
/// null) receives the first node of `second` that has no partner or another type.
UpdateResult compareShapes(const Graph& first, const Graph& second, Node** differs);

/// Objects with a count of references (the API's user objects); dropping the last one destroys.
bool retainUserObject(void* object, unsigned count);
bool releaseUserObject(void* object, unsigned count);

/// Does what a node stands for, now. The application's stream, if it matters, is behind.
Status runWork(const Work& work);
/// Whether a kernel of prepared work may wait for other threads than its own.
bool mayWaitForHost(const Work& work);
/// Checks what can be known before a launch, and makes kernels ready.
Status prepareWork(const Work& work);

} // namespace mneme::cpu_runtime
