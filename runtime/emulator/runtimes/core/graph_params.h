// Room emulator/runtimes: converts between the API's parameters and the work of nodes. All
// functions make the checks that vendors make when a node is created.
#pragma once

#include "runtime/emulator/runtimes/core/graph.h"

namespace mneme::cpu_runtime {

Status toWork(const KernelNodeParams* params, Work& work);
Status toWork(const Memcpy3DParms* params, Work& work);
Status toWork(const MemsetParams* params, Work& work);
Status toWork(const HostNodeParams* params, Work& work);
/// Copies `bytes` contiguous bytes.
Status copyWork(void* destination, const void* source, size_t bytes, CopyKind kind, Work& work);
Status toSymbolWork(const void* symbol, const void* source, size_t bytes, size_t offset,
                    CopyKind kind, Work& work);
Status fromSymbolWork(void* destination, const void* symbol, size_t bytes, size_t offset,
                      CopyKind kind, Work& work);
/// Copies the graph of the handle.
Status childWork(void* graph, Work& work);
/// RecordWork or WaitWork.
template <typename EventWork> Status eventWork(void* event, Work& work);
/// Allocates memory; `params->dptr` receives the address.
Status allocWork(MemAllocNodeParams* params, Work& work);
Status freeWork(void* pointer, Work& work);

/// Converts parameters of any type of node; `params` may receive results. Reports each unsupported
/// type once.
Status toWork(GraphNodeParams* params, Work& work);

/// Returns the parameters of a kernel node; their pointers belong to the node.
KernelNodeParams paramsOf(const KernelWork& work);

/// Copies `params`' arguments. \throws mneme::Error
Status makeKernelWork(const KernelNodeParams& params, KernelWork& work);

} // namespace mneme::cpu_runtime
