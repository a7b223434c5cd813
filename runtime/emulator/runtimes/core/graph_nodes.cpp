// Nodes of graphs: made, asked and changed by functions of their type.
#include "runtime/emulator/runtimes/core/graph_nodes.h"

#include <algorithm>

#include "runtime/emulator/runtimes/core/exported.h"

namespace mneme::cpu_runtime {

Status replaceWork(Node& node, Work made) {
  if (node.work.index() != made.index())
    return Status::InvalidValue;
  if (auto* kernel = std::get_if<KernelWork>(&made)) {
    const auto& before = std::get<KernelWork>(node.work);
    kernel->attributes = before.attributes;
    kernel->isCooperative = before.isCooperative;
    kernel->cluster = before.cluster;
  }
  node.work = std::move(made);
  return Status::Success;
}

} // namespace mneme::cpu_runtime

using namespace mneme::cpu_runtime;

// Kernels.

MNEME_RUNTIME_API Status gpuGraphAddKernelNode(void** node, void* graph, void* const* dependencies,
                                               size_t count, const KernelNodeParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphKernelNodeGetParams(void* node, KernelNodeParams* params) {
  return readNode<KernelWork>(node, [&](const KernelWork& work) {
    if (params)
      *params = paramsOf(work);
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuGraphKernelNodeSetParams(void* node, const KernelNodeParams* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphExecKernelNodeSetParams(void* exec, void* node,
                                                         const KernelNodeParams* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphKernelNodeSetAttribute(void* handle, int id, const void* value) {
  return withGraphs([&] {
    Node* node = findNode(handle);
    auto* work = node ? std::get_if<KernelWork>(&node->work) : nullptr;
    if (!work || !value)
      return Status::InvalidValue;
    LaunchAttribute attribute{};
    attribute.id = id;
    std::copy_n(static_cast<const char*>(value), sizeof attribute.value.bytes,
                attribute.value.bytes);
    work->attributes[id] = attribute;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphKernelNodeGetAttribute(void* node, int id, void* value) {
  return readNode<KernelWork>(node, [&](const KernelWork& work) {
    if (!value)
      return Status::InvalidValue;
    LaunchAttribute attribute{};
    if (id == kLaunchCooperative)
      attribute.value.cooperative = work.isCooperative;
    else if (id == kLaunchClusterDimension)
      attribute.value.clusterDim = work.cluster;
    if (const auto found = work.attributes.find(id); found != work.attributes.end())
      attribute = found->second;
    std::copy_n(attribute.value.bytes, sizeof attribute.value.bytes, static_cast<char*>(value));
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuGraphKernelNodeCopyAttributes(void* destination, void* origin) {
  return withGraphs([&] {
    Node *to = findNode(destination), *from = findNode(origin);
    auto* target = to ? std::get_if<KernelWork>(&to->work) : nullptr;
    const auto* source = from ? std::get_if<KernelWork>(&from->work) : nullptr;
    if (!target || !source)
      return Status::InvalidValue;
    target->attributes = source->attributes;
    target->isCooperative = source->isCooperative;
    target->cluster = source->cluster;
    return Status::Success;
  });
}

// Copies.

MNEME_RUNTIME_API Status gpuGraphAddMemcpyNode(void** node, void* graph, void* const* dependencies,
                                               size_t count, const Memcpy3DParms* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphAddMemcpyNode1D(void** node, void* graph,
                                                 void* const* dependencies, size_t count,
                                                 void* destination, const void* source,
                                                 size_t bytes, CopyKind kind) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return copyWork(destination, source, bytes, kind, work); });
}

MNEME_RUNTIME_API Status gpuGraphAddMemcpyNodeToSymbol(void** node, void* graph,
                                                       void* const* dependencies, size_t count,
                                                       const void* symbol, const void* source,
                                                       size_t bytes, size_t offset, CopyKind kind) {
  return addNode(node, graph, dependencies, count, [&](Work& work) {
    return toSymbolWork(symbol, source, bytes, offset, kind, work);
  });
}

MNEME_RUNTIME_API Status gpuGraphAddMemcpyNodeFromSymbol(void** node, void* graph,
                                                         void* const* dependencies, size_t count,
                                                         void* destination, const void* symbol,
                                                         size_t bytes, size_t offset,
                                                         CopyKind kind) {
  return addNode(node, graph, dependencies, count, [&](Work& work) {
    return fromSymbolWork(destination, symbol, bytes, offset, kind, work);
  });
}

MNEME_RUNTIME_API Status gpuGraphMemcpyNodeGetParams(void* node, Memcpy3DParms* params) {
  return readNode<CopyWork>(node, [&](const CopyWork& work) {
    if (params)
      *params = work.params;
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuGraphMemcpyNodeSetParams(void* node, const Memcpy3DParms* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphMemcpyNodeSetParams1D(void* node, void* destination,
                                                       const void* source, size_t bytes,
                                                       CopyKind kind) {
  return changeNode(node,
                    [&](Work& work) { return copyWork(destination, source, bytes, kind, work); });
}

MNEME_RUNTIME_API Status gpuGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol,
                                                             const void* source, size_t bytes,
                                                             size_t offset, CopyKind kind) {
  return changeNode(
      node, [&](Work& work) { return toSymbolWork(symbol, source, bytes, offset, kind, work); });
}

MNEME_RUNTIME_API Status gpuGraphMemcpyNodeSetParamsFromSymbol(void* node, void* destination,
                                                               const void* symbol, size_t bytes,
                                                               size_t offset, CopyKind kind) {
  return changeNode(node, [&](Work& work) {
    return fromSymbolWork(destination, symbol, bytes, offset, kind, work);
  });
}

MNEME_RUNTIME_API Status gpuGraphExecMemcpyNodeSetParams(void* exec, void* node,
                                                         const Memcpy3DParms* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphExecMemcpyNodeSetParams1D(void* exec, void* node,
                                                           void* destination, const void* source,
                                                           size_t bytes, CopyKind kind) {
  return changeExecNode(
      exec, node, [&](Work& work) { return copyWork(destination, source, bytes, kind, work); });
}

MNEME_RUNTIME_API Status gpuGraphExecMemcpyNodeSetParamsToSymbol(void* exec, void* node,
                                                                 const void* symbol,
                                                                 const void* source, size_t bytes,
                                                                 size_t offset, CopyKind kind) {
  return changeExecNode(exec, node, [&](Work& work) {
    return toSymbolWork(symbol, source, bytes, offset, kind, work);
  });
}

MNEME_RUNTIME_API Status gpuGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, void* node,
                                                                   void* destination,
                                                                   const void* symbol, size_t bytes,
                                                                   size_t offset, CopyKind kind) {
  return changeExecNode(exec, node, [&](Work& work) {
    return fromSymbolWork(destination, symbol, bytes, offset, kind, work);
  });
}

// Fills.

MNEME_RUNTIME_API Status gpuGraphAddMemsetNode(void** node, void* graph, void* const* dependencies,
                                               size_t count, const MemsetParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphMemsetNodeGetParams(void* node, MemsetParams* params) {
  return readNode<FillWork>(node, [&](const FillWork& work) {
    if (params)
      *params = work.params;
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuGraphMemsetNodeSetParams(void* node, const MemsetParams* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphExecMemsetNodeSetParams(void* exec, void* node,
                                                         const MemsetParams* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}

// Functions of the host.

MNEME_RUNTIME_API Status gpuGraphAddHostNode(void** node, void* graph, void* const* dependencies,
                                             size_t count, const HostNodeParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphHostNodeGetParams(void* node, HostNodeParams* params) {
  return readNode<HostWork>(node, [&](const HostWork& work) {
    if (params)
      *params = work.params;
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_RUNTIME_API Status gpuGraphHostNodeSetParams(void* node, const HostNodeParams* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_RUNTIME_API Status gpuGraphExecHostNodeSetParams(void* exec, void* node,
                                                       const HostNodeParams* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}
