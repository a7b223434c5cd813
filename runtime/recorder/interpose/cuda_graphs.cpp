// Room recorder: executable graphs of CUDA. Up to version 11 cudaGraphInstantiate() had five
// parameters, since then it has three: what is passed on beyond those is not looked at.
#include "runtime/recorder/graph_memory.h"
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

/// Driver and runtime have the same handles.
GraphFunctions ofDriver() noexcept {
  static const GraphFunctions functions{
      find<int (*)(void*, void**, size_t*)>("cuGraphGetNodes"),
      find<int (*)(void*, int*)>("cuGraphNodeGetType"),
      find<int (*)(void*, void*)>("cuGraphMemAllocNodeGetParams"),
      find<int (*)(void*, void**)>("cuGraphChildGraphNodeGetGraph")};
  return functions;
}

GraphFunctions ofRuntime() noexcept {
  static const GraphFunctions functions{
      find<int (*)(void*, void**, size_t*)>("cudaGraphGetNodes"),
      find<int (*)(void*, int*)>("cudaGraphNodeGetType"),
      find<int (*)(void*, void*)>("cudaGraphMemAllocNodeGetParams"),
      find<int (*)(void*, void**)>("cudaGraphChildGraphNodeGetGraph"),
      find<int (*)()>("cudaPeekAtLastError"),
      find<int (*)()>("cudaGetLastError")};
  return functions;
}

} // namespace

MNEME_RECORD_API int cudaGraphInstantiate(void* exec, void* graph, void* third, void* fourth,
                                          size_t fifth) {
  return watchInstantiate(graph, ofRuntime(), [&] {
    return forward<cudaGraphInstantiate>("cudaGraphInstantiate", exec, graph, third, fourth, fifth);
  });
}

MNEME_RECORD_API int cudaGraphInstantiateWithFlags(void* exec, void* graph,
                                                   unsigned long long flags) {
  return watchInstantiate(graph, ofRuntime(), [&] {
    return forward<cudaGraphInstantiateWithFlags>("cudaGraphInstantiateWithFlags", exec, graph,
                                                  flags);
  });
}

MNEME_RECORD_API int cudaGraphInstantiateWithParams(void* exec, void* graph, void* params) {
  return watchInstantiate(graph, ofRuntime(), [&] {
    return forward<cudaGraphInstantiateWithParams>("cudaGraphInstantiateWithParams", exec, graph,
                                                   params);
  });
}

MNEME_RECORD_API int cudaGraphInstantiateWithParams_ptsz(void* exec, void* graph, void* params) {
  return watchInstantiate(graph, ofRuntime(), [&] {
    return forward<cudaGraphInstantiateWithParams_ptsz>("cudaGraphInstantiateWithParams_ptsz", exec,
                                                        graph, params);
  });
}

MNEME_RECORD_API int cuGraphInstantiate(void* exec, void* graph, void* third, void* fourth,
                                        size_t fifth) {
  return watchInstantiate(graph, ofDriver(), [&] {
    return forward<cuGraphInstantiate>("cuGraphInstantiate", exec, graph, third, fourth, fifth);
  });
}

MNEME_RECORD_API int cuGraphInstantiate_v2(void* exec, void* graph, void* third, void* fourth,
                                           size_t fifth) {
  return watchInstantiate(graph, ofDriver(), [&] {
    return forward<cuGraphInstantiate_v2>("cuGraphInstantiate_v2", exec, graph, third, fourth,
                                          fifth);
  });
}

MNEME_RECORD_API int cuGraphInstantiateWithFlags(void* exec, void* graph,
                                                 unsigned long long flags) {
  return watchInstantiate(graph, ofDriver(), [&] {
    return forward<cuGraphInstantiateWithFlags>("cuGraphInstantiateWithFlags", exec, graph, flags);
  });
}

MNEME_RECORD_API int cuGraphInstantiateWithParams(void* exec, void* graph, void* params) {
  return watchInstantiate(graph, ofDriver(), [&] {
    return forward<cuGraphInstantiateWithParams>("cuGraphInstantiateWithParams", exec, graph,
                                                 params);
  });
}

MNEME_RECORD_API int cuGraphInstantiateWithParams_ptsz(void* exec, void* graph, void* params) {
  return watchInstantiate(graph, ofDriver(), [&] {
    return forward<cuGraphInstantiateWithParams_ptsz>("cuGraphInstantiateWithParams_ptsz", exec,
                                                      graph, params);
  });
}
