// Room emulator/runtimes: functions of the runtime that its other functions call too.
#pragma once

#include <cstddef>

#include "runtime/emulator/runtimes/core/graph_types.h"
#include "runtime/emulator/runtimes/core/status.h"
#include "runtime/emulator/runtimes/core/types.h"

namespace mneme::cpu_runtime {

extern "C" {
Status gpuEventCreateWithFlags(void** event, unsigned flags);
Status gpuEventRecord(void* event, void* stream);
Status gpuFuncGetAttributes(FuncAttributes* attributes, const void* function);
Status gpuGraphAddKernelNode(void** node, void* graph, void* const* dependencies, size_t count,
                             const KernelNodeParams* params);
Status gpuGraphAddMemsetNode(void** node, void* graph, void* const* dependencies, size_t count,
                             const MemsetParams* params);
Status gpuGraphAddNode_v2(void** node, void* graph, void* const* dependencies, const void* edges,
                          size_t count, GraphNodeParams* params);
Status gpuGraphExecKernelNodeSetParams(void* exec, void* node, const KernelNodeParams* params);
Status gpuGraphExecMemsetNodeSetParams(void* exec, void* node, const MemsetParams* params);
Status gpuGraphExecNodeSetParams(void* exec, void* node, GraphNodeParams* params);
Status gpuGraphExecUpdate(void* exec, void* graph, GraphExecUpdateResultInfo* info);
Status gpuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags);
Status gpuGraphKernelNodeCopyAttributes(void* destination, void* origin);
Status gpuGraphKernelNodeGetAttribute(void* node, int id, void* value);
Status gpuGraphKernelNodeGetParams(void* node, KernelNodeParams* params);
Status gpuGraphKernelNodeSetAttribute(void* handle, int id, const void* value);
Status gpuGraphKernelNodeSetParams(void* node, const KernelNodeParams* params);
Status gpuGraphMemsetNodeGetParams(void* node, MemsetParams* params);
Status gpuGraphMemsetNodeSetParams(void* node, const MemsetParams* params);
Status gpuGraphNodeGetType(void* handle, NodeType* type);
Status gpuGraphNodeSetParams(void* node, GraphNodeParams* params);
Status gpuHostAlloc(void** pointer, size_t bytes, unsigned flags);
Status gpuHostRegister(void* pointer, size_t bytes, unsigned flags);
Status gpuLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block, void** args,
                                  size_t sharedBytes, void* stream);
Status gpuLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** args, size_t sharedBytes,
                       void* stream);
Status gpuLaunchKernelExC(const LaunchConfig* config, const void* function, void** args);
Status gpuMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
Status gpuMemcpy(void* destination, const void* source, size_t bytes, CopyKind kind);
Status gpuMemcpyAsync(void* destination, const void* source, size_t bytes, CopyKind kind,
                      void* stream);
Status gpuMemcpy2D(void* destination, size_t destinationPitch, const void* source,
                   size_t sourcePitch, size_t width, size_t height, CopyKind kind);
Status gpuMemcpy2DAsync(void* destination, size_t destinationPitch, const void* source,
                        size_t sourcePitch, size_t width, size_t height, CopyKind kind,
                        void* stream);
Status gpuStreamSynchronize(void* stream);
Status gpuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                    size_t sharedBytes);
}

} // namespace mneme::cpu_runtime
