// Nodes of graphs that hold graphs, events, memory or nothing, and nodes of any type, in the CUDA
// Runtime API.
#include "runtime/cpu_runtime/core/exported.h"
#include "runtime/cpu_runtime/core/graph_nodes.h"
#include "runtime/cpu_runtime/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

template <typename EventWork> Status readEvent(void* node, void** event) {
  return readNode<EventWork>(node, [&](const EventWork& work) {
    if (event)
      *event = work.event;
    return event ? Status::Success : Status::InvalidValue;
  });
}

template <typename EventWork> auto makesEvent(void* event) {
  return [event](Work& work) { return eventWork<EventWork>(event, work); };
}

} // namespace

MNEME_CUDA_API Status cudaGraphAddEmptyNode(void** node, void* graph, void* const* dependencies,
                                            size_t count) {
  return addNode(node, graph, dependencies, count, [](Work& work) {
    work = EmptyWork{};
    return Status::Success;
  });
}

MNEME_CUDA_API Status cudaGraphAddChildGraphNode(void** node, void* graph,
                                                 void* const* dependencies, size_t count,
                                                 void* child) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return childWork(child, work); });
}

MNEME_CUDA_API Status cudaGraphChildGraphNodeGetGraph(void* node, void** graph) {
  return readNode<ChildWork>(node, [&](const ChildWork& work) {
    if (graph)
      *graph = registerGraph(work.graph);
    return graph ? Status::Success : Status::InvalidValue;
  });
}

// Events.

MNEME_CUDA_API Status cudaGraphAddEventRecordNode(void** node, void* graph,
                                                  void* const* dependencies, size_t count,
                                                  void* event) {
  return addNode(node, graph, dependencies, count, makesEvent<RecordWork>(event));
}

MNEME_CUDA_API Status cudaGraphEventRecordNodeGetEvent(void* node, void** event) {
  return readEvent<RecordWork>(node, event);
}

MNEME_CUDA_API Status cudaGraphEventRecordNodeSetEvent(void* node, void* event) {
  return changeNode(node, makesEvent<RecordWork>(event));
}

MNEME_CUDA_API Status cudaGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
  return changeExecNode(exec, node, makesEvent<RecordWork>(event));
}

MNEME_CUDA_API Status cudaGraphAddEventWaitNode(void** node, void* graph, void* const* dependencies,
                                                size_t count, void* event) {
  return addNode(node, graph, dependencies, count, makesEvent<WaitWork>(event));
}

MNEME_CUDA_API Status cudaGraphEventWaitNodeGetEvent(void* node, void** event) {
  return readEvent<WaitWork>(node, event);
}

MNEME_CUDA_API Status cudaGraphEventWaitNodeSetEvent(void* node, void* event) {
  return changeNode(node, makesEvent<WaitWork>(event));
}

MNEME_CUDA_API Status cudaGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
  return changeExecNode(exec, node, makesEvent<WaitWork>(event));
}

// Memory.

MNEME_CUDA_API Status cudaGraphAddMemAllocNode(void** node, void* graph, void* const* dependencies,
                                               size_t count, MemAllocNodeParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return allocWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphMemAllocNodeGetParams(void* node, MemAllocNodeParams* params) {
  return readNode<AllocWork>(node, [&](const AllocWork& work) {
    if (params)
      *params = {work.props, nullptr, 0, work.memory->bytes(), work.memory->address()};
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_CUDA_API Status cudaGraphAddMemFreeNode(void** node, void* graph, void* const* dependencies,
                                              size_t count, void* pointer) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return freeWork(pointer, work); });
}

MNEME_CUDA_API Status cudaGraphMemFreeNodeGetParams(void* node, void** pointer) {
  return readNode<FreeWork>(node, [&](const FreeWork& work) {
    if (pointer)
      *pointer = work.pointer;
    return pointer ? Status::Success : Status::InvalidValue;
  });
}

/// Bytes used now and at most, reserved now and at most; the high-water marks follow the present.
MNEME_CUDA_API Status cudaDeviceGetGraphMemAttribute(int device, int attribute, uint64_t* value) {
  return api([&] {
    if (!value || attribute < 0 || attribute > 3)
      return Status::InvalidValue;
    if (device != 0)
      return Status::InvalidDevice;
    size_t reserved = 0, used = 0;
    countGraphMemory(reserved, used);
    *value = attribute < 2 ? used : reserved;
    return Status::Success;
  });
}

MNEME_CUDA_API Status cudaDeviceSetGraphMemAttribute(int device, int attribute, const void* value) {
  return api([&] {
    if (device != 0)
      return Status::InvalidDevice;
    return value && (attribute == 1 || attribute == 3) ? Status::Success : Status::InvalidValue;
  });
}

MNEME_CUDA_API Status cudaDeviceGraphMemTrim(int device) {
  return api([&] { return device == 0 ? Status::Success : Status::InvalidDevice; });
}

// Any type.

/// As CUDA 12.3 and newer have it, with data of edges.
MNEME_CUDA_API Status cudaGraphAddNode_v2(void** node, void* graph, void* const* dependencies,
                                          const void*, size_t count, GraphNodeParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

/// Until CUDA 12 the count is the fourth parameter and the node's parameters are the fifth.
MNEME_CUDA_API Status cudaGraphAddNode(void** node, void* graph, void* const* dependencies,
                                       uintptr_t fourth, uintptr_t fifth, GraphNodeParams* sixth) {
  return edgesHaveData() ? cudaGraphAddNode_v2(node, graph, dependencies, nullptr, fifth, sixth)
                         : cudaGraphAddNode_v2(node, graph, dependencies, nullptr, fourth,
                                               reinterpret_cast<GraphNodeParams*>(fifth));
}

MNEME_CUDA_API Status cudaGraphNodeSetParams(void* node, GraphNodeParams* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphExecNodeSetParams(void* exec, void* node, GraphNodeParams* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}
