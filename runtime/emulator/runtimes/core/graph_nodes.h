// Room emulator/runtimes: helpers shared by the functions on nodes.
#pragma once

#include <functional>

#include "runtime/emulator/runtimes/core/graph_capture.h"
#include "runtime/emulator/runtimes/core/graph_params.h"

namespace mneme::cpu_runtime {

/// api() under graphLock().
template <typename Body> Status withGraphs(const Body& body) {
  return api([&] {
    const std::lock_guard lock(graphLock());
    return body();
  });
}

/// Adds a node with the work that `make` creates.
template <typename Make>
Status addNode(void** out, void* graphHandle, void* const* dependencies, size_t count,
               const Make& make) {
  return withGraphs([&] {
    const auto graph = findGraph(graphHandle);
    std::vector<Node*> nodes;
    if (!out || !graph || !findNodes(*graph, dependencies, count, nodes))
      return Status::InvalidValue;
    Work work;
    const Status status = make(work);
    if (status == Status::Success)
      *out = &graph->add(std::move(work), std::move(nodes));
    return status;
  });
}

/// Reads a node's work, which must be of type `Kind`.
template <typename Kind, typename Read> Status readNode(void* handle, const Read& read) {
  return withGraphs([&] {
    const Node* node = findNode(handle);
    const auto* work = node ? std::get_if<Kind>(&node->work) : nullptr;
    return work ? read(*work) : Status::InvalidValue;
  });
}

/// Replaces a node's work with `made`, which must be of the same kind.
Status replaceWork(Node& node, Work made);

/// Replaces a node's work with what `make` creates, which must be of the same kind.
template <typename Make> Status changeNode(void* handle, const Make& make) {
  return withGraphs([&] {
    Node* node = findNode(handle);
    Work work;
    if (!node)
      return Status::InvalidValue;
    const Status status = make(work);
    return status == Status::Success ? replaceWork(*node, std::move(work)) : status;
  });
}

/// Finds the node of an executable graph that was created from `handle`.
Node* findExecNode(void* exec, void* handle);
template <typename Make> Status changeExecNode(void* exec, void* handle, const Make& make) {
  return withGraphs([&] {
    Node* node = findExecNode(exec, handle);
    Work work;
    if (!node)
      return Status::InvalidValue;
    Status status = make(work);
    if (status == Status::Success)
      status = prepareWork(work);
    return status == Status::Success ? replaceWork(*node, std::move(work)) : status;
  });
}

/// Calls `visit` with the work of each kernel of an executable graph, including child graphs.
void visitKernels(void* exec, const std::function<void(Node& node, KernelWork& work)>& visit);

} // namespace mneme::cpu_runtime
