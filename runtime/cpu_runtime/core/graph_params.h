// Room cpu_runtime: what parameters of the API mean as work of a node, and back. All check
// what vendors check when a node is made.
#pragma once

#include "runtime/cpu_runtime/core/graph.h"

namespace mneme::cpu_runtime {

Status toWork(const KernelNodeParams* params, Work& work);
Status toWork(const Memcpy3DParms* params, Work& work);
Status toWork(const MemsetParams* params, Work& work);
Status toWork(const HostNodeParams* params, Work& work);
/// A copy of `bytes` bytes in a row.
Status copyWork(void* destination, const void* source, size_t bytes, CopyKind kind, Work& work);
Status toSymbolWork(const void* symbol, const void* source, size_t bytes, size_t offset,
                    CopyKind kind, Work& work);
Status fromSymbolWork(void* destination, const void* symbol, size_t bytes, size_t offset,
                      CopyKind kind, Work& work);
/// The graph behind the handle is copied.
Status childWork(void* graph, Work& work);
/// RecordWork or WaitWork.
template <typename EventWork> Status eventWork(void* event, Work& work);
/// Allocates; `params->dptr` receives the address.
Status allocWork(MemAllocNodeParams* params, Work& work);
Status freeWork(void* pointer, Work& work);

/// Takes any type the API has; `params` may receive results. Unsupported types are named once.
Status toWork(GraphNodeParams* params, Work& work);

/// What a kernel's node tells about itself; its pointers are the node's own.
KernelNodeParams paramsOf(const KernelWork& work);

/// Copies `params`' arguments. \throws mneme::Error
Status makeKernelWork(const KernelNodeParams& params, KernelWork& work);

} // namespace mneme::cpu_runtime
