// Nodes of graphs in the CUDA Runtime API: made, asked and changed by functions of their type.
#include "runtime/cpu_runtime/core/graph_nodes.h"

#include <algorithm>

#include "runtime/cpu_runtime/core/exported.h"

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

MNEME_CUDA_API Status cudaGraphAddKernelNode(void** node, void* graph, void* const* dependencies,
                                             size_t count, const KernelNodeParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphKernelNodeGetParams(void* node, KernelNodeParams* params) {
  return readNode<KernelWork>(node, [&](const KernelWork& work) {
    if (params)
      *params = paramsOf(work);
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_CUDA_API Status cudaGraphKernelNodeSetParams(void* node, const KernelNodeParams* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphExecKernelNodeSetParams(void* exec, void* node,
                                                       const KernelNodeParams* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphKernelNodeSetAttribute(void* handle, int id, const void* value) {
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

MNEME_CUDA_API Status cudaGraphKernelNodeGetAttribute(void* node, int id, void* value) {
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

MNEME_CUDA_API Status cudaGraphKernelNodeCopyAttributes(void* destination, void* origin) {
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

MNEME_CUDA_API Status cudaGraphAddMemcpyNode(void** node, void* graph, void* const* dependencies,
                                             size_t count, const Memcpy3DParms* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* dependencies,
                                               size_t count, void* destination, const void* source,
                                               size_t bytes, CopyKind kind) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return copyWork(destination, source, bytes, kind, work); });
}

MNEME_CUDA_API Status cudaGraphAddMemcpyNodeToSymbol(void** node, void* graph,
                                                     void* const* dependencies, size_t count,
                                                     const void* symbol, const void* source,
                                                     size_t bytes, size_t offset, CopyKind kind) {
  return addNode(node, graph, dependencies, count, [&](Work& work) {
    return toSymbolWork(symbol, source, bytes, offset, kind, work);
  });
}

MNEME_CUDA_API Status cudaGraphAddMemcpyNodeFromSymbol(void** node, void* graph,
                                                       void* const* dependencies, size_t count,
                                                       void* destination, const void* symbol,
                                                       size_t bytes, size_t offset, CopyKind kind) {
  return addNode(node, graph, dependencies, count, [&](Work& work) {
    return fromSymbolWork(destination, symbol, bytes, offset, kind, work);
  });
}

MNEME_CUDA_API Status cudaGraphMemcpyNodeGetParams(void* node, Memcpy3DParms* params) {
  return readNode<CopyWork>(node, [&](const CopyWork& work) {
    if (params)
      *params = work.params;
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_CUDA_API Status cudaGraphMemcpyNodeSetParams(void* node, const Memcpy3DParms* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphMemcpyNodeSetParams1D(void* node, void* destination,
                                                     const void* source, size_t bytes,
                                                     CopyKind kind) {
  return changeNode(node,
                    [&](Work& work) { return copyWork(destination, source, bytes, kind, work); });
}

MNEME_CUDA_API Status cudaGraphMemcpyNodeSetParamsToSymbol(void* node, const void* symbol,
                                                           const void* source, size_t bytes,
                                                           size_t offset, CopyKind kind) {
  return changeNode(
      node, [&](Work& work) { return toSymbolWork(symbol, source, bytes, offset, kind, work); });
}

MNEME_CUDA_API Status cudaGraphMemcpyNodeSetParamsFromSymbol(void* node, void* destination,
                                                             const void* symbol, size_t bytes,
                                                             size_t offset, CopyKind kind) {
  return changeNode(node, [&](Work& work) {
    return fromSymbolWork(destination, symbol, bytes, offset, kind, work);
  });
}

MNEME_CUDA_API Status cudaGraphExecMemcpyNodeSetParams(void* exec, void* node,
                                                       const Memcpy3DParms* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphExecMemcpyNodeSetParams1D(void* exec, void* node, void* destination,
                                                         const void* source, size_t bytes,
                                                         CopyKind kind) {
  return changeExecNode(
      exec, node, [&](Work& work) { return copyWork(destination, source, bytes, kind, work); });
}

MNEME_CUDA_API Status cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, void* node,
                                                               const void* symbol,
                                                               const void* source, size_t bytes,
                                                               size_t offset, CopyKind kind) {
  return changeExecNode(exec, node, [&](Work& work) {
    return toSymbolWork(symbol, source, bytes, offset, kind, work);
  });
}

MNEME_CUDA_API Status cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, void* node,
                                                                 void* destination,
                                                                 const void* symbol, size_t bytes,
                                                                 size_t offset, CopyKind kind) {
  return changeExecNode(exec, node, [&](Work& work) {
    return fromSymbolWork(destination, symbol, bytes, offset, kind, work);
  });
}

// Fills.

MNEME_CUDA_API Status cudaGraphAddMemsetNode(void** node, void* graph, void* const* dependencies,
                                             size_t count, const MemsetParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphMemsetNodeGetParams(void* node, MemsetParams* params) {
  return readNode<FillWork>(node, [&](const FillWork& work) {
    if (params)
      *params = work.params;
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_CUDA_API Status cudaGraphMemsetNodeSetParams(void* node, const MemsetParams* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphExecMemsetNodeSetParams(void* exec, void* node,
                                                       const MemsetParams* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}

// Functions of the host.

MNEME_CUDA_API Status cudaGraphAddHostNode(void** node, void* graph, void* const* dependencies,
                                           size_t count, const HostNodeParams* params) {
  return addNode(node, graph, dependencies, count,
                 [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphHostNodeGetParams(void* node, HostNodeParams* params) {
  return readNode<HostWork>(node, [&](const HostWork& work) {
    if (params)
      *params = work.params;
    return params ? Status::Success : Status::InvalidValue;
  });
}

MNEME_CUDA_API Status cudaGraphHostNodeSetParams(void* node, const HostNodeParams* params) {
  return changeNode(node, [&](Work& work) { return toWork(params, work); });
}

MNEME_CUDA_API Status cudaGraphExecHostNodeSetParams(void* exec, void* node,
                                                     const HostNodeParams* params) {
  return changeExecNode(exec, node, [&](Work& work) { return toWork(params, work); });
}
