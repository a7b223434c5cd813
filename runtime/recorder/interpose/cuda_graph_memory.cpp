// Room recorder: nodes of CUDA's graphs that allocate and free memory, and those with bodies.
#include <atomic>
#include <exception>

#include "runtime/recorder/graph_bodies.h"
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/interpose/cuda_graph_functions.h"
#include "runtime/recorder/recorder_exported.h"
#include "runtime/recorder/served_graph_memory.h"

using namespace mneme::record;

namespace {

using Address = unsigned long long;

/// The vendor's structure for a node of any type, with what is read of it here.
struct NodeParams {
  int type;
  int reserved[3];
  union {
    long long room[29];
    AllocParams alloc;
    void* freed;
    struct {
      void* graph;
      int ownership;
    } child;
    struct {
      unsigned long long handle;
      int type;
      unsigned size;
      void** bodies; ///< out
    } conditional;
  };
};

int watchConditional(const NewNode& place, const NodeParams& params, const Next& next) {
  const int status = next();
  const auto& made = params.conditional;
  if (status == 0 && place.node && made.bodies)
    try {
      noteBodies(place.graph, *place.node, {made.bodies, made.size},
                 {made.handle, static_cast<Condition::Type>(made.type), made.size});
    } catch (const std::exception&) { // no memory: kernels in the bodies are not named
    }
  return status;
}

/// Without the flag the value is undefined when the graph is launched.
int watchHandle(const unsigned long long* handle, void* graph, unsigned value, unsigned flags,
                const Next& next) {
  constexpr unsigned kAssigned = 1;
  const int status = next();
  if (status == 0 && handle)
    try {
      noteHandle(graph, *handle, flags & kAssigned ? value : 0);
    } catch (const std::exception&) { // no memory: kernels in the bodies are not recorded
    }
  return status;
}

/// Before CUDA 12.9 a graph that becomes a part of another one is always copied, and nothing says
/// what lies behind its handle.
bool saysWhoOwns() noexcept {
  constexpr int kCuda129 = 12090;
  static const auto versionOf = find<int (*)(int*)>("cuDriverGetVersion");
  int version = 0;
  return versionOf && versionOf(&version) == 0 && version >= kCuda129;
}

/// Adds a node of any type; `next` does for others.
int addNode(const NewNode& place, const void* edges, void* params, const GraphFunctions& functions,
            const Next& next) {
  constexpr int kMoved = 1; // cudaGraphChildGraphOwnershipMove
  auto* const node = static_cast<NodeParams*>(params);
  if (!node)
    return next();
  if (node->type == static_cast<int>(NodeKind::Child))
    return node->child.ownership == kMoved && saysWhoOwns()
               ? watchGraphMove(node->child.graph, place.graph, next)
               : refuseGraphMemory(node->child.graph, functions, next);
  if (node->type == static_cast<int>(NodeKind::Conditional))
    return watchConditional(place, *node, next);
  if (edges)
    return next();
  if (node->type == static_cast<int>(NodeKind::Alloc))
    return serveAllocNode(place, &node->alloc, functions, next);
  if (node->type == static_cast<int>(NodeKind::Free))
    return serveFreeNode(place, node->freed, functions, next);
  return next();
}

/// Since CUDA 13 the runtime's function of this name takes data of edges. More than one runtime may
/// be there: the one that has the function is asked.
bool hasEdgeData() noexcept {
  constexpr int kCuda13 = 13000;
  static constinit std::atomic<int> known{0};
  int version = known.load(std::memory_order_relaxed);
  if (version == 0) {
    const auto versionOf = reinterpret_cast<int (*)(int*)>(
        mneme::loaded::besideNext("cudaGraphAddNode", "cudaRuntimeGetVersion", kLibraries));
    if (versionOf && versionOf(&version) == 0)
      known.store(version, std::memory_order_relaxed);
  }
  return version >= kCuda13;
}

} // namespace

MNEME_RECORD_API int cudaGraphAddMemAllocNode(void** node, void* graph, void* const* after,
                                              size_t count, AllocParams* params) {
  return serveAllocNode({node, graph, after, count}, params, cudaGraphFunctions(), [&] {
    return forward<cudaGraphAddMemAllocNode>("cudaGraphAddMemAllocNode", node, graph, after, count,
                                             params);
  });
}

MNEME_RECORD_API int cuGraphAddMemAllocNode(void** node, void* graph, void* const* after,
                                            size_t count, AllocParams* params) {
  return serveAllocNode({node, graph, after, count}, params, cuGraphFunctions(), [&] {
    return forward<cuGraphAddMemAllocNode>("cuGraphAddMemAllocNode", node, graph, after, count,
                                           params);
  });
}

MNEME_RECORD_API int cudaGraphAddMemFreeNode(void** node, void* graph, void* const* after,
                                             size_t count, void* pointer) {
  return serveFreeNode({node, graph, after, count}, pointer, cudaGraphFunctions(), [&] {
    return forward<cudaGraphAddMemFreeNode>("cudaGraphAddMemFreeNode", node, graph, after, count,
                                            pointer);
  });
}

MNEME_RECORD_API int cuGraphAddMemFreeNode(void** node, void* graph, void* const* after,
                                           size_t count, Address address) {
  return serveFreeNode({node, graph, after, count}, reinterpret_cast<void*>(address),
                       cuGraphFunctions(), [&] {
                         return forward<cuGraphAddMemFreeNode>("cuGraphAddMemFreeNode", node, graph,
                                                               after, count, address);
                       });
}

/// Before CUDA 13 `third` is the count, and `fourth` the parameters.
MNEME_RECORD_API int cudaGraphAddNode(void** node, void* graph, void* const* after, void* third,
                                      void* fourth, void* fifth) {
  const auto next = [&] {
    return forward<cudaGraphAddNode>("cudaGraphAddNode", node, graph, after, third, fourth, fifth);
  };
  void* const edges = hasEdgeData() ? third : nullptr;
  const auto count = reinterpret_cast<size_t>(hasEdgeData() ? fourth : third);
  return addNode({node, graph, after, count}, edges, hasEdgeData() ? fifth : fourth,
                 cudaGraphFunctions(), next);
}

MNEME_RECORD_API int cudaGraphAddNode_v2(void** node, void* graph, void* const* after, void* edges,
                                         size_t count, void* params) {
  return addNode({node, graph, after, count}, edges, params, cudaGraphFunctions(), [&] {
    return forward<cudaGraphAddNode_v2>("cudaGraphAddNode_v2", node, graph, after, edges, count,
                                        params);
  });
}

MNEME_RECORD_API int cuGraphAddNode(void** node, void* graph, void* const* after, size_t count,
                                    void* params) {
  return addNode({node, graph, after, count}, nullptr, params, cuGraphFunctions(), [&] {
    return forward<cuGraphAddNode>("cuGraphAddNode", node, graph, after, count, params);
  });
}

MNEME_RECORD_API int cuGraphAddNode_v2(void** node, void* graph, void* const* after, void* edges,
                                       size_t count, void* params) {
  return addNode({node, graph, after, count}, edges, params, cuGraphFunctions(), [&] {
    return forward<cuGraphAddNode_v2>("cuGraphAddNode_v2", node, graph, after, edges, count,
                                      params);
  });
}

MNEME_RECORD_API int cudaGraphConditionalHandleCreate(unsigned long long* handle, void* graph,
                                                      unsigned value, unsigned flags) {
  return watchHandle(handle, graph, value, flags, [&] {
    return forward<cudaGraphConditionalHandleCreate>("cudaGraphConditionalHandleCreate", handle,
                                                     graph, value, flags);
  });
}

MNEME_RECORD_API int cudaGraphConditionalHandleCreate_v2(unsigned long long* handle, void* graph,
                                                         void* context, unsigned value,
                                                         unsigned flags) {
  return watchHandle(handle, graph, value, flags, [&] {
    return forward<cudaGraphConditionalHandleCreate_v2>("cudaGraphConditionalHandleCreate_v2",
                                                        handle, graph, context, value, flags);
  });
}

MNEME_RECORD_API int cuGraphConditionalHandleCreate(unsigned long long* handle, void* graph,
                                                    void* context, unsigned value, unsigned flags) {
  return watchHandle(handle, graph, value, flags, [&] {
    return forward<cuGraphConditionalHandleCreate>("cuGraphConditionalHandleCreate", handle, graph,
                                                   context, value, flags);
  });
}

MNEME_RECORD_API int cudaGraphNodeGetType(void* node, int* type) {
  return serveNodeType(node, type, cudaGraphFunctions(), [&] {
    return forward<cudaGraphNodeGetType>("cudaGraphNodeGetType", node, type);
  });
}

MNEME_RECORD_API int cuGraphNodeGetType(void* node, int* type) {
  return serveNodeType(node, type, cuGraphFunctions(), [&] {
    return forward<cuGraphNodeGetType>("cuGraphNodeGetType", node, type);
  });
}

MNEME_RECORD_API int cudaGraphMemAllocNodeGetParams(void* node, AllocParams* params) {
  return serveAllocParams(node, params, [&] {
    return forward<cudaGraphMemAllocNodeGetParams>("cudaGraphMemAllocNodeGetParams", node, params);
  });
}

MNEME_RECORD_API int cuGraphMemAllocNodeGetParams(void* node, AllocParams* params) {
  return serveAllocParams(node, params, [&] {
    return forward<cuGraphMemAllocNodeGetParams>("cuGraphMemAllocNodeGetParams", node, params);
  });
}

MNEME_RECORD_API int cudaGraphMemFreeNodeGetParams(void* node, void** pointer) {
  return serveFreeParams(node, pointer, [&] {
    return forward<cudaGraphMemFreeNodeGetParams>("cudaGraphMemFreeNodeGetParams", node, pointer);
  });
}

MNEME_RECORD_API int cuGraphMemFreeNodeGetParams(void* node, void** pointer) {
  return serveFreeParams(node, pointer, [&] {
    return forward<cuGraphMemFreeNodeGetParams>("cuGraphMemFreeNodeGetParams", node, pointer);
  });
}

MNEME_RECORD_API int cudaGraphDestroy(void* graph) {
  return watchGraphDestroy(graph,
                           [&] { return forward<cudaGraphDestroy>("cudaGraphDestroy", graph); });
}

MNEME_RECORD_API int cuGraphDestroy(void* graph) {
  return watchGraphDestroy(graph, [&] { return forward<cuGraphDestroy>("cuGraphDestroy", graph); });
}

MNEME_RECORD_API int cudaGraphClone(void** copy, void* graph) {
  return refuseGraphMemory(graph, cudaGraphFunctions(),
                           [&] { return forward<cudaGraphClone>("cudaGraphClone", copy, graph); });
}

MNEME_RECORD_API int cuGraphClone(void** copy, void* graph) {
  return refuseGraphMemory(graph, cuGraphFunctions(),
                           [&] { return forward<cuGraphClone>("cuGraphClone", copy, graph); });
}

/// Since CUDA 13 the fourth parameter is data of edges, and the fifth the count.
MNEME_RECORD_API int cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to,
                                                 void* fourth, size_t fifth) {
  return refuseGraphMemory(graph, cudaGraphFunctions(), [&] {
    return forward<cudaGraphRemoveDependencies>("cudaGraphRemoveDependencies", graph, from, to,
                                                fourth, fifth);
  });
}

MNEME_RECORD_API int cuGraphRemoveDependencies(void* graph, void* const* from, void* const* to,
                                               size_t count) {
  return refuseGraphMemory(graph, cuGraphFunctions(), [&] {
    return forward<cuGraphRemoveDependencies>("cuGraphRemoveDependencies", graph, from, to, count);
  });
}

MNEME_RECORD_API int cuGraphRemoveDependencies_v2(void* graph, void* const* from, void* const* to,
                                                  void* edges, size_t count) {
  return refuseGraphMemory(graph, cuGraphFunctions(), [&] {
    return forward<cuGraphRemoveDependencies_v2>("cuGraphRemoveDependencies_v2", graph, from, to,
                                                 edges, count);
  });
}

MNEME_RECORD_API int cudaGraphDestroyNode(void* node) {
  return watchNodeDestroy(node, cudaGraphFunctions(), [&] {
    return forward<cudaGraphDestroyNode>("cudaGraphDestroyNode", node);
  });
}

MNEME_RECORD_API int cuGraphDestroyNode(void* node) {
  return watchNodeDestroy(node, cuGraphFunctions(),
                          [&] { return forward<cuGraphDestroyNode>("cuGraphDestroyNode", node); });
}

MNEME_RECORD_API int cudaGraphAddChildGraphNode(void** node, void* graph, void* const* after,
                                                size_t count, void* child) {
  return refuseGraphMemory(child, cudaGraphFunctions(), [&] {
    return forward<cudaGraphAddChildGraphNode>("cudaGraphAddChildGraphNode", node, graph, after,
                                               count, child);
  });
}

MNEME_RECORD_API int cuGraphAddChildGraphNode(void** node, void* graph, void* const* after,
                                              size_t count, void* child) {
  return refuseGraphMemory(child, cuGraphFunctions(), [&] {
    return forward<cuGraphAddChildGraphNode>("cuGraphAddChildGraphNode", node, graph, after, count,
                                             child);
  });
}
