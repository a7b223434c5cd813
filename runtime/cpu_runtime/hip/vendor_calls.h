// Room cpu_runtime: the functions of the shared sources (../cudart) that are called here under
// the names they have there. Inside this library those names are local.
#pragma once

#include <cstddef>

#include "runtime/cpu_runtime/core/graph_types.h"
#include "runtime/cpu_runtime/core/status.h"
#include "runtime/cpu_runtime/core/types.h"

namespace mneme::cpu_runtime::hip {

using namespace mneme::cpu_runtime; // this room is a second face of that one

extern "C" {
Status cudaEventCreateWithFlags(void** event, unsigned flags);
Status cudaEventRecord(void* event, void* stream);
Status cudaFuncGetAttributes(FuncAttributes* attributes, const void* function);
Status cudaFuncSetAttribute(const void* function, int attribute, int value);
Status cudaGraphAddKernelNode(void** node, void* graph, void* const* dependencies, size_t count,
                              const KernelNodeParams* params);
Status cudaGraphAddMemsetNode(void** node, void* graph, void* const* dependencies, size_t count,
                              const MemsetParams* params);
Status cudaGraphAddNode_v2(void** node, void* graph, void* const* dependencies, const void* edges,
                           size_t count, GraphNodeParams* params);
Status cudaGraphExecKernelNodeSetParams(void* exec, void* node, const KernelNodeParams* params);
Status cudaGraphExecMemsetNodeSetParams(void* exec, void* node, const MemsetParams* params);
Status cudaGraphExecNodeSetParams(void* exec, void* node, GraphNodeParams* params);
Status cudaGraphExecUpdate(void* exec, void* graph, GraphExecUpdateResultInfo* info);
Status cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags);
Status cudaGraphKernelNodeCopyAttributes(void* destination, void* origin);
Status cudaGraphKernelNodeGetAttribute(void* node, int id, void* value);
Status cudaGraphKernelNodeGetParams(void* node, KernelNodeParams* params);
Status cudaGraphKernelNodeSetAttribute(void* handle, int id, const void* value);
Status cudaGraphKernelNodeSetParams(void* node, const KernelNodeParams* params);
Status cudaGraphMemsetNodeGetParams(void* node, MemsetParams* params);
Status cudaGraphMemsetNodeSetParams(void* node, const MemsetParams* params);
Status cudaGraphNodeGetType(void* handle, NodeType* type);
Status cudaGraphNodeSetParams(void* node, GraphNodeParams* params);
Status cudaHostAlloc(void** pointer, size_t bytes, unsigned flags);
Status cudaHostRegister(void* pointer, size_t bytes, unsigned flags);
Status cudaLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block, void** args,
                                   size_t sharedBytes, void* stream);
Status cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** args,
                        size_t sharedBytes, void* stream);
Status cudaLaunchKernelExC(const LaunchConfig* config, const void* function, void** args);
Status cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
Status cudaMemcpy(void* destination, const void* source, size_t bytes, CopyKind kind);
Status cudaMemcpyAsync(void* destination, const void* source, size_t bytes, CopyKind kind,
                       void* stream);
Status cudaMemcpy2D(void* destination, size_t destinationPitch, const void* source,
                    size_t sourcePitch, size_t width, size_t height, CopyKind kind);
Status cudaMemcpy2DAsync(void* destination, size_t destinationPitch, const void* source,
                         size_t sourcePitch, size_t width, size_t height, CopyKind kind,
                         void* stream);
Status cudaStreamSynchronize(void* stream);
Status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                     size_t sharedBytes);
}

} // namespace mneme::cpu_runtime::hip
