// Room recorder: what a program changes in an executable graph of CUDA. The recorder's copy of the
// graph is changed by the function for graphs that takes the same parameters.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

MNEME_RECORD_API int cudaGraphExecKernelNodeSetParams(void* exec, void* node, const void* params) {
  return changeNode<cudaGraphExecKernelNodeSetParams>(
      "cudaGraphExecKernelNodeSetParams", "cudaGraphKernelNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cudaGraphExecMemcpyNodeSetParams(void* exec, void* node, const void* params) {
  return changeNode<cudaGraphExecMemcpyNodeSetParams>(
      "cudaGraphExecMemcpyNodeSetParams", "cudaGraphMemcpyNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cudaGraphExecMemcpyNodeSetParams1D(void* exec, void* node, void* to,
                                                        const void* from, size_t bytes, int kind) {
  return changeNode<cudaGraphExecMemcpyNodeSetParams1D>("cudaGraphExecMemcpyNodeSetParams1D",
                                                        "cudaGraphMemcpyNodeSetParams1D", exec,
                                                        node, to, from, bytes, kind);
}

MNEME_RECORD_API int cudaGraphExecMemcpyNodeSetParamsToSymbol(void* exec, void* node,
                                                              const void* symbol, const void* from,
                                                              size_t bytes, size_t offset,
                                                              int kind) {
  return changeNode<cudaGraphExecMemcpyNodeSetParamsToSymbol>(
      "cudaGraphExecMemcpyNodeSetParamsToSymbol", "cudaGraphMemcpyNodeSetParamsToSymbol", exec,
      node, symbol, from, bytes, offset, kind);
}

MNEME_RECORD_API int cudaGraphExecMemcpyNodeSetParamsFromSymbol(void* exec, void* node, void* to,
                                                                const void* symbol, size_t bytes,
                                                                size_t offset, int kind) {
  return changeNode<cudaGraphExecMemcpyNodeSetParamsFromSymbol>(
      "cudaGraphExecMemcpyNodeSetParamsFromSymbol", "cudaGraphMemcpyNodeSetParamsFromSymbol", exec,
      node, to, symbol, bytes, offset, kind);
}

MNEME_RECORD_API int cudaGraphExecMemsetNodeSetParams(void* exec, void* node, const void* params) {
  return changeNode<cudaGraphExecMemsetNodeSetParams>(
      "cudaGraphExecMemsetNodeSetParams", "cudaGraphMemsetNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cudaGraphExecHostNodeSetParams(void* exec, void* node, const void* params) {
  return changeNode<cudaGraphExecHostNodeSetParams>(
      "cudaGraphExecHostNodeSetParams", "cudaGraphHostNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cudaGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
  return changeNode<cudaGraphExecEventRecordNodeSetEvent>("cudaGraphExecEventRecordNodeSetEvent",
                                                          "cudaGraphEventRecordNodeSetEvent", exec,
                                                          node, event);
}

MNEME_RECORD_API int cudaGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
  return changeNode<cudaGraphExecEventWaitNodeSetEvent>(
      "cudaGraphExecEventWaitNodeSetEvent", "cudaGraphEventWaitNodeSetEvent", exec, node, event);
}

MNEME_RECORD_API int cudaGraphExecExternalSemaphoresSignalNodeSetParams(void* exec, void* node,
                                                                        const void* params) {
  return changeNode<cudaGraphExecExternalSemaphoresSignalNodeSetParams>(
      "cudaGraphExecExternalSemaphoresSignalNodeSetParams",
      "cudaGraphExternalSemaphoresSignalNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cudaGraphExecExternalSemaphoresWaitNodeSetParams(void* exec, void* node,
                                                                      const void* params) {
  return changeNode<cudaGraphExecExternalSemaphoresWaitNodeSetParams>(
      "cudaGraphExecExternalSemaphoresWaitNodeSetParams",
      "cudaGraphExternalSemaphoresWaitNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cudaGraphExecNodeSetParams(void* exec, void* node, void* params) {
  return changeNode<cudaGraphExecNodeSetParams>("cudaGraphExecNodeSetParams",
                                                "cudaGraphNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cuGraphExecKernelNodeSetParams(void* exec, void* node, const void* params) {
  return changeNode<cuGraphExecKernelNodeSetParams>(
      "cuGraphExecKernelNodeSetParams", "cuGraphKernelNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cuGraphExecKernelNodeSetParams_v2(void* exec, void* node, const void* params) {
  return changeNode<cuGraphExecKernelNodeSetParams_v2>(
      "cuGraphExecKernelNodeSetParams_v2", "cuGraphKernelNodeSetParams_v2", exec, node, params);
}

/// The node of a graph keeps its context.
MNEME_RECORD_API int cuGraphExecMemcpyNodeSetParams(void* exec, void* node, const void* params,
                                                    void* context) {
  const auto changeCopy = [&](void* copy) {
    const auto function = find<int (*)(void*, const void*)>("cuGraphMemcpyNodeSetParams");
    return function ? function(copy, params) : kInitializationError;
  };
  return watchExecChange(exec, node, changeCopy, [&] {
    return forward<cuGraphExecMemcpyNodeSetParams>("cuGraphExecMemcpyNodeSetParams", exec, node,
                                                   params, context);
  });
}

/// The node of a graph keeps its context.
MNEME_RECORD_API int cuGraphExecMemsetNodeSetParams(void* exec, void* node, const void* params,
                                                    void* context) {
  const auto changeCopy = [&](void* copy) {
    const auto function = find<int (*)(void*, const void*)>("cuGraphMemsetNodeSetParams");
    return function ? function(copy, params) : kInitializationError;
  };
  return watchExecChange(exec, node, changeCopy, [&] {
    return forward<cuGraphExecMemsetNodeSetParams>("cuGraphExecMemsetNodeSetParams", exec, node,
                                                   params, context);
  });
}

MNEME_RECORD_API int cuGraphExecHostNodeSetParams(void* exec, void* node, const void* params) {
  return changeNode<cuGraphExecHostNodeSetParams>("cuGraphExecHostNodeSetParams",
                                                  "cuGraphHostNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cuGraphExecEventRecordNodeSetEvent(void* exec, void* node, void* event) {
  return changeNode<cuGraphExecEventRecordNodeSetEvent>(
      "cuGraphExecEventRecordNodeSetEvent", "cuGraphEventRecordNodeSetEvent", exec, node, event);
}

MNEME_RECORD_API int cuGraphExecEventWaitNodeSetEvent(void* exec, void* node, void* event) {
  return changeNode<cuGraphExecEventWaitNodeSetEvent>(
      "cuGraphExecEventWaitNodeSetEvent", "cuGraphEventWaitNodeSetEvent", exec, node, event);
}

MNEME_RECORD_API int cuGraphExecExternalSemaphoresSignalNodeSetParams(void* exec, void* node,
                                                                      const void* params) {
  return changeNode<cuGraphExecExternalSemaphoresSignalNodeSetParams>(
      "cuGraphExecExternalSemaphoresSignalNodeSetParams",
      "cuGraphExternalSemaphoresSignalNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cuGraphExecExternalSemaphoresWaitNodeSetParams(void* exec, void* node,
                                                                    const void* params) {
  return changeNode<cuGraphExecExternalSemaphoresWaitNodeSetParams>(
      "cuGraphExecExternalSemaphoresWaitNodeSetParams",
      "cuGraphExternalSemaphoresWaitNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cuGraphExecBatchMemOpNodeSetParams(void* exec, void* node,
                                                        const void* params) {
  return changeNode<cuGraphExecBatchMemOpNodeSetParams>(
      "cuGraphExecBatchMemOpNodeSetParams", "cuGraphBatchMemOpNodeSetParams", exec, node, params);
}

MNEME_RECORD_API int cuGraphExecNodeSetParams(void* exec, void* node, void* params) {
  return changeNode<cuGraphExecNodeSetParams>("cuGraphExecNodeSetParams", "cuGraphNodeSetParams",
                                              exec, node, params);
}

MNEME_RECORD_API int cudaGraphExecChildGraphNodeSetParams(void* exec, void* node, void* graph) {
  return watchExecChild(exec, node, graph, [&] {
    return forward<cudaGraphExecChildGraphNodeSetParams>("cudaGraphExecChildGraphNodeSetParams",
                                                         exec, node, graph);
  });
}

MNEME_RECORD_API int cudaGraphNodeSetEnabled(void* exec, void* node, unsigned isEnabled) {
  return watchExecEnable(exec, node, isEnabled != 0, [&] {
    return forward<cudaGraphNodeSetEnabled>("cudaGraphNodeSetEnabled", exec, node, isEnabled);
  });
}

/// Up to version 11 it had four parameters, since then it has three.
MNEME_RECORD_API int cudaGraphExecUpdate(void* exec, void* graph, void* third, void* fourth) {
  return watchExecUpdate(exec, graph, [&] {
    return forward<cudaGraphExecUpdate>("cudaGraphExecUpdate", exec, graph, third, fourth);
  });
}

MNEME_RECORD_API int cuGraphExecChildGraphNodeSetParams(void* exec, void* node, void* graph) {
  return watchExecChild(exec, node, graph, [&] {
    return forward<cuGraphExecChildGraphNodeSetParams>("cuGraphExecChildGraphNodeSetParams", exec,
                                                       node, graph);
  });
}

MNEME_RECORD_API int cuGraphNodeSetEnabled(void* exec, void* node, unsigned isEnabled) {
  return watchExecEnable(exec, node, isEnabled != 0, [&] {
    return forward<cuGraphNodeSetEnabled>("cuGraphNodeSetEnabled", exec, node, isEnabled);
  });
}

/// Before CUDA 12.
MNEME_RECORD_API int cuGraphExecUpdate(void* exec, void* graph, void* third, void* fourth) {
  return watchExecUpdate(exec, graph, [&] {
    return forward<cuGraphExecUpdate>("cuGraphExecUpdate", exec, graph, third, fourth);
  });
}

MNEME_RECORD_API int cuGraphExecUpdate_v2(void* exec, void* graph, void* result) {
  return watchExecUpdate(exec, graph, [&] {
    return forward<cuGraphExecUpdate_v2>("cuGraphExecUpdate_v2", exec, graph, result);
  });
}
