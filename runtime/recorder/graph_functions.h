// Room recorder: a vendor's functions about graphs, as the recorder calls them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/abi/mneme_rt.h"

namespace mneme::record {

/// What a kernel node launches. The pointers are the node's own.
struct NodeKernel {
  const void* function = nullptr;
  mneme_dim3 grid{}, block{}, cluster{1, 1, 1};
  size_t sharedBytes = 0;
  bool isCooperative = false;
  bool isChangedByKernels = false; ///< or may be: kernels have a handle of it
  void** args = nullptr;
  void** extra = nullptr;        ///< the arguments in one buffer, if `args` is null
  const void* context = nullptr; ///< it runs in; null if that is unknown
};

/// The kinds of nodes that the recorder knows, of all vendors.
enum class NodeKind : int {
  Kernel = 0,
  Copy = 1,
  Fill = 2,
  Host = 3,
  Child = 4,
  Empty = 5,
  Alloc = 10,
  Free = 11,
  Conditional = 13
};

/// How the vendors tell who may use memory.
struct MemoryAccess {
  int locationType, locationId, flags;
};

/// The vendors' structure for a node that allocates memory; what newer ones add comes behind it.
struct AllocParams {
  int allocType, handleTypes;
  int locationType, locationId;
  char more[72];
  const MemoryAccess* access;
  size_t accessCount;
  size_t sizeBytes;
  void* pointer; ///< out
};
static_assert(offsetof(AllocParams, pointer) == 112);

/// A conditional node: a kernel sets the value of its handle, which says which of its bodies run.
struct Condition {
  enum class Type : int { If = 0, While = 1, Switch = 2 }; ///< numbers of the vendors
  uint64_t handle = 0;
  Type type = Type::If;
  unsigned size = 0;  ///< the number of bodies
  unsigned value = 0; ///< that the handle has when the graph is launched
};

/// Statuses are the vendor's.
struct GraphFunctions {
  // If one of these is null, none is called.
  int (*getNodes)(void* graph, void** nodes, size_t* count) = nullptr;
  int (*nodeType)(void* node, int* type) = nullptr;
  int (*allocParams)(void* node, void* params) = nullptr;
  int (*childGraph)(void* node, void** graph) = nullptr;
  // These may be null.
  int (*peekAtLastError)() = nullptr;
  int (*getLastError)() = nullptr;
  int (*execFlags)(void* exec, unsigned long long* flags) = nullptr;
  /// Reads a kernel node as another of the vendor's interfaces sees it, which may know the handle
  /// of a kernel that the first does not know.
  int (*readKernelElse)(void* node, NodeKernel& kernel) = nullptr;
  /// Tells a stream's context, of those in NodeKernel.
  int (*contextOf)(void* stream, void** context) = nullptr;
  int firstType = 0; ///< the number of the first type of nodes
  // If one of these is null, kernels in graphs are not recorded.
  int (*getEdges)(void* graph, void** from, void** to, size_t* count) = nullptr;
  int (*clone)(void** copy, void* graph) = nullptr;
  int (*destroy)(void* graph) = nullptr;
  int (*findInClone)(void** node, void* original, void* copy) = nullptr;
  int (*destroyNode)(void* node) = nullptr;
  int (*instantiate)(void** exec, void* graph, unsigned long long flags) = nullptr;
  int (*destroyExec)(void* exec) = nullptr;
  int (*setEnabled)(void* exec, void* node, unsigned isEnabled) = nullptr;
  int (*launch)(void* exec, void* stream) = nullptr;
  /// Reads a kernel node; its clusters too, where the vendor has some.
  int (*readKernel)(void* node, NodeKernel& kernel) = nullptr;

  // If one of these is null, graphs with conditional nodes, which no vendor copies, are left whole;
  // it also needs `addEmpty`.
  int (*create)(void** graph, unsigned flags) = nullptr;
  /// Adds a node that does what the other one does: a kernel, a copy, a fill, a host function or a
  /// graph.
  int (*addLike)(void** node, void* graph, void* const* after, size_t count, void* other) = nullptr;
  /// Names of functions by which kernels say which bodies of conditional nodes run.
  std::span<const char* const> conditionSetters = {};

  // If one of these is null, bodies of conditional nodes run in the program's own graphs alone.
  /// Makes a handle of the graph, which has this value when the graph is launched.
  int (*createHandle)(uint64_t* handle, void* graph, unsigned value) = nullptr;
  /// Adds a conditional node, and tells its bodies, which are as many as it has.
  int (*addConditional)(void** node, void* graph, void* const* after, size_t count,
                        const Condition& condition, void** bodies) = nullptr;
  /// Adds a node that sets one word.
  int (*addFill)(void** node, void* graph, unsigned* word, unsigned value) = nullptr;
  /// Makes words of the host that such nodes reach; null if there is no memory.
  unsigned* (*makeWords)(size_t count) = nullptr;
  int (*waitStream)(void* stream) = nullptr;
  // If one of these is null, what is launched in parts is waited for as long as it takes.
  /// Makes a stream that waits for no other one.
  int (*makeStream)(void** stream) = nullptr;
  int (*destroyStream)(void* stream) = nullptr; ///< once what is in it has run
  /// Makes what comes later in a stream wait until the word is 1.
  int (*waitForWord)(void* stream, const unsigned* word) = nullptr;

  // If one of these is null, the vendor has the memory that nodes allocate (graph_blocks.h).
  int (*addEmpty)(void** node, void* graph, void* const* after, size_t count) = nullptr;
  int (*getDependencies)(void* node, void** nodes, size_t* count) = nullptr;
  /// Tells which graph a stream is captured into, and behind which nodes. They are the vendor's.
  int (*readCapture)(void* stream, void** graph, void* const** after, size_t* count) = nullptr;
  /// Makes what is captured next in a stream depend on this node alone.
  int (*captureBehind)(void* stream, void* node) = nullptr;
  int (*exchangeCaptureMode)(int* mode) = nullptr;
  int (*freeBytes)(size_t* free, size_t* total) = nullptr;

  bool canRead() const noexcept { return getNodes && nodeType && allocParams && childGraph; }
  bool canRun() const noexcept {
    return canRead() && getEdges && clone && destroy && findInClone && destroyNode && instantiate &&
           destroyExec && setEnabled && launch && readKernel;
  }
  bool canRebuild() const noexcept { return canRun() && create && addLike && addEmpty; }
  bool canChoose() const noexcept {
    return canRebuild() && createHandle && addConditional && addFill && makeWords && waitStream;
  }
  bool canHoldMemory() const noexcept {
    return canRun() && addEmpty && getDependencies && readCapture && captureBehind &&
           exchangeCaptureMode && freeBytes;
  }
};

} // namespace mneme::record
