// Room recorder: what a program changes in an executable graph of HIP, as in
// cuda_graph_changes.cpp.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

MNEME_RECORD_API int hipGraphExecKernelNodeSetParams(void* exec, void* node, const void* params) {
  return changeNode<hipGraphExecKernelNodeSetParams>(
      "hipGraphExecKernelNodeSetParams", "hipGraphKernelNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int hipGraphExecMemcpyNodeSetParams(void* exec, void* node, void* params) {
  return changeNode<hipGraphExecMemcpyNodeSetParams>(
      "hipGraphExecMemcpyNodeSetParams", "hipGraphMemcpyNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int hipGraphExecMemcpyNodeSetParams1D(void* exec, void* node, void* to,
                                                       const void* from, size_t bytes, int kind) {
  return changeNode<hipGraphExecMemcpyNodeSetParams1D>("hipGraphExecMemcpyNodeSetParams1D",
                                                       "hipGraphMemcpyNodeSetParams1D", exec, node,
                                                       to, from, bytes, kind);
}

MNEME_RECORD_API int hipGraphExecMemcpyNodeSetParamsToSymbol(void* exec, void* node,
                                                             const void* symbol, const void* from,
                                                             size_t bytes, size_t offset,
                                                             int kind) {
  return changeNode<hipGraphExecMemcpyNodeSetParamsToSymbol>(
      "hipGraphExecMemcpyNodeSetParamsToSymbol", "hipGraphMemcpyNodeSetParamsToSymbol", exec, node,
      symbol, from, bytes, offset, kind);
}

MNEME_RECORD_API int hipGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, void* node, void* to,
                                                               const void* symbol, size_t bytes,
                                                               size_t offset, int kind) {
  return changeNode<hipGraphExecMemcpyNodeSetParamsFromSymbol>(
      "hipGraphExecMemcpyNodeSetParamsFromSymbol", "hipGraphMemcpyNodeSetParamsFromSymbol", exec,
      node, to, symbol, bytes, offset, kind);
}

MNEME_RECORD_API int hipGraphExecMemsetNodeSetParams(void* exec, void* node, const void* params) {
  return changeNode<hipGraphExecMemsetNodeSetParams>(
      "hipGraphExecMemsetNodeSetParams", "hipGraphMemsetNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int hipGraphExecHostNodeSetParams(void* exec, void* node, const void* params) {
  return changeNode<hipGraphExecHostNodeSetParams>("hipGraphExecHostNodeSetParams",
                                                   "hipGraphHostNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int hipGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
  return changeNode<hipGraphExecEventRecordNodeSetEvent>(
      "hipGraphExecEventRecordNodeSetEvent", "hipGraphEventRecordNodeSetEvent", exec, node, event);
}

MNEME_RECORD_API int hipGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
  return changeNode<hipGraphExecEventWaitNodeSetEvent>(
      "hipGraphExecEventWaitNodeSetEvent", "hipGraphEventWaitNodeSetEvent", exec, node, event);
}

MNEME_RECORD_API int hipGraphExecExternalSemaphoresSignalNodeSetParams(void* exec, void* node,
                                                                       const void* params) {
  return changeNode<hipGraphExecExternalSemaphoresSignalNodeSetParams>(
      "hipGraphExecExternalSemaphoresSignalNodeSetParams",
      "hipGraphExternalSemaphoresSignalNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int hipGraphExecExternalSemaphoresWaitNodeSetParams(void* exec, void* node,
                                                                     const void* params) {
  return changeNode<hipGraphExecExternalSemaphoresWaitNodeSetParams>(
      "hipGraphExecExternalSemaphoresWaitNodeSetParams",
      "hipGraphExternalSemaphoresWaitNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int hipGraphExecBatchMemOpNodeSetParams(void* exec, void* node,
                                                         const void* params) {
  return changeNode<hipGraphExecBatchMemOpNodeSetParams>(
      "hipGraphExecBatchMemOpNodeSetParams", "hipGraphBatchMemOpNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int hipGraphExecNodeSetParams(void* exec, void* node, void* params) {
  return changeNode<hipGraphExecNodeSetParams>("hipGraphExecNodeSetParams", "hipGraphNodeSetParams",
                                               exec, node, params);
}

MNEME_RECORD_API int hipGraphExecChildGraphNodeSetParams(void* exec, void* node, void* graph) {
  return watchExecChild(exec, node, graph, [&] {
    return forward<hipGraphExecChildGraphNodeSetParams>("hipGraphExecChildGraphNodeSetParams", exec,
                                                        node, graph);
  });
}

MNEME_RECORD_API int hipGraphNodeSetEnabled(void* exec, void* node, unsigned isEnabled) {
  return watchExecEnable(exec, node, isEnabled != 0, [&] {
    return forward<hipGraphNodeSetEnabled>("hipGraphNodeSetEnabled", exec, node, isEnabled);
  });
}

MNEME_RECORD_API int hipGraphExecUpdate(void* exec, void* graph, void* errorNode, void* result) {
  return watchExecUpdate(exec, graph, [&] {
    return forward<hipGraphExecUpdate>("hipGraphExecUpdate", exec, graph, errorNode, result);
  });
}
