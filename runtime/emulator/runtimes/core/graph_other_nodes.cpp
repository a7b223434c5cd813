// Nodes of graphs that hold graphs, events, memory or nothing, and nodes of any type.
#include <algorithm>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_nodes.h"
#include "runtime/emulator/runtimes/core/vendor.h"

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

bool isFreedIn(void* handle, const void* pointer) {
  const auto graph = findGraph(handle);
  return graph && std::ranges::any_of(graph->nodes(), [&](const auto& node) {
           const auto* free = std::get_if<FreeWork>(&node->work);
           return free && free->pointer == pointer;
         });
}

} // namespace

MNEME_RUNTIME_API Status gpuGraphAddEmptyNode(void** node, void* graph, void* const* dependencies,
                                              size_t count) {
  return addNode(node, graph, dependencies, count, [](Work& work) {
    work = EmptyWork{};
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphAddChildGraphNode(void** node, void* graph,
                                                   void* const* dependencies, size_t count,
                                                   void* child) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return childWork(child, work); });
}

MNEME_RUNTIME_API Status gpuGraphChildGraphNodeGetGraph(void* node, void** graph) {
  return readNode<ChildWork>(node, [&](const ChildWork& work) {
    if (graph)
      *graph = registerGraph(work.graph);
    return graph ? Status::Success : Status::InvalidValue;
  });
}

// Events.

MNEME_RUNTIME_API Status gpuGraphAddEventRecordNode(void** node, void* graph,
                                                    void* const* dependencies, size_t count,
                                                    void* event) {
  return addNode(node, graph, dependencies, count, makesEvent<RecordWork>(event));
}

MNEME_RUNTIME_API Status gpuGraphEventRecordNodeGetEvent(void* node, void** event) {
  return readEvent<RecordWork>(node, event);
}

MNEME_RUNTIME_API Status gpuGraphEventRecordNodeSetEvent(void* node, void* event) {
  return changeNode(node, makesEvent<RecordWork>(event));
}

MNEME_RUNTIME_API Status gpuGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
  return changeExecNode(exec, node, makesEvent<RecordWork>(event));
}

MNEME_RUNTIME_API Status gpuGraphAddEventWaitNode(void** node, void* graph,
                                                  void* const* dependencies, size_t count,
                                                  void* event) {
  return addNode(node, graph, dependencies, count, makesEvent<WaitWork>(event));
}

MNEME_RUNTIME_API Status gpuGraphEventWaitNodeGetEvent(void* node, void** event) {
  return readEvent<WaitWork>(node, event);
}

MNEME_RUNTIME_API Status gpuGraphEventWaitNodeSetEvent(void* node, void* event) {
  return changeNode(node, makesEvent<WaitWork>(event));
}

MNEME_RUNTIME_API Status gpuGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
  return changeExecNode(exec, node, makesEvent<WaitWork>(event));
}

// Memory.

MNEME_RUNTIME_API Status gpuGraphAddMemAllocNode(void** node, void* graph,
                                                 void* const* dependencies, size_t count,
                                                 MemAllocNodeParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return allocWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphMemAllocNodeGetParams(void* node, MemAllocNodeParams* params) {
  return readNode<AllocWork>(node, [&](const AllocWork& work) {
    if (params)
      *params = {work.props, nullptr, 0, work.memory->bytes(), work.memory->address()};
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuGraphAddMemFreeNode(void** node, void* graph, void* const* dependencies,
                                                size_t count, void* pointer) {
  return addNode(node, graph, dependencies, count, [&](Work& work) {
    return isFreedIn(graph, pointer) ? Status::InvalidValue : freeWork(pointer, work);
  });
}

MNEME_RUNTIME_API Status gpuGraphMemFreeNodeGetParams(void* node, void** pointer) {
  return readNode<FreeWork>(node, [&](const FreeWork& work) {
    if (pointer)
      *pointer = work.pointer;
    return pointer ? Status::Success : Status::InvalidValue;
  });
}

/// Bytes used now and at most, reserved now and at most; the high-water marks follow the present.
MNEME_RUNTIME_API Status gpuDeviceGetGraphMemAttribute(int device, int attribute, uint64_t* value) {
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

MNEME_RUNTIME_API Status gpuDeviceSetGraphMemAttribute(int device, int attribute,
                                                       const void* value) {
  return api([&] {
    if (device != 0)
      return Status::InvalidDevice;
    return value && (attribute == 1 || attribute == 3) ? Status::Success : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuDeviceGraphMemTrim(int device) {
  return api([&] { return device == 0 ? Status::Success : Status::InvalidDevice; });
}

// Any type.

/// With data of edges, which means nothing here.
MNEME_RUNTIME_API Status gpuGraphAddNode_v2(void** node, void* graph, void* const* dependencies,
                                            const void*, size_t count, GraphNodeParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

/// Without data of edges the count is the fourth parameter and the node's parameters are the fifth.
MNEME_RUNTIME_API Status gpuGraphAddNode(void** node, void* graph, void* const* dependencies,
                                         uintptr_t fourth, uintptr_t fifth,
                                         GraphNodeParams* sixth) {
  return edgesHaveData() ? gpuGraphAddNode_v2(node, graph, dependencies, nullptr, fifth, sixth)
                         : gpuGraphAddNode_v2(node, graph, dependencies, nullptr, fourth,
                                              reinterpret_cast<GraphNodeParams*>(fifth));
}

MNEME_RUNTIME_API Status gpuGraphNodeSetParams(void* node, GraphNodeParams* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphExecNodeSetParams(void* exec, void* node,
                                                   GraphNodeParams* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}
