// Room recorder: executable graphs of CUDA. Up to version 11 cudaGraphInstantiate() had five
// parameters, since then it has three: what is passed on beyond those is not looked at.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/interpose/cuda_graph_functions.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

constexpr const char* kGraph = "a CUDA graph was launched; the kernels in it are not recorded";

} // namespace

MNEME_RECORD_API int cudaGraphInstantiate(void** exec, void* graph, void* third, void* fourth,
                                          size_t fifth) {
  return watchInstantiate(exec, graph, cudaGraphFunctions(), [&] {
    return forward<cudaGraphInstantiate>("cudaGraphInstantiate", exec, graph, third, fourth, fifth);
  });
}

MNEME_RECORD_API int cudaGraphInstantiateWithFlags(void** exec, void* graph,
                                                   unsigned long long flags) {
  return watchInstantiate(exec, graph, cudaGraphFunctions(), [&] {
    return forward<cudaGraphInstantiateWithFlags>("cudaGraphInstantiateWithFlags", exec, graph,
                                                  flags);
  });
}

MNEME_RECORD_API int cudaGraphInstantiateWithParams(void** exec, void* graph, void* params) {
  return watchInstantiate(exec, graph, cudaGraphFunctions(), [&] {
    return forward<cudaGraphInstantiateWithParams>("cudaGraphInstantiateWithParams", exec, graph,
                                                   params);
  });
}

MNEME_RECORD_API int cudaGraphInstantiateWithParams_ptsz(void** exec, void* graph, void* params) {
  return watchInstantiate(exec, graph, cudaGraphFunctions(), [&] {
    return forward<cudaGraphInstantiateWithParams_ptsz>("cudaGraphInstantiateWithParams_ptsz", exec,
                                                        graph, params);
  });
}

MNEME_RECORD_API int cuGraphInstantiate(void** exec, void* graph, void* third, void* fourth,
                                        size_t fifth) {
  return watchInstantiate(exec, graph, cuGraphFunctions(), [&] {
    return forward<cuGraphInstantiate>("cuGraphInstantiate", exec, graph, third, fourth, fifth);
  });
}

MNEME_RECORD_API int cuGraphInstantiate_v2(void** exec, void* graph, void* third, void* fourth,
                                           size_t fifth) {
  return watchInstantiate(exec, graph, cuGraphFunctions(), [&] {
    return forward<cuGraphInstantiate_v2>("cuGraphInstantiate_v2", exec, graph, third, fourth,
                                          fifth);
  });
}

MNEME_RECORD_API int cuGraphInstantiateWithFlags(void** exec, void* graph,
                                                 unsigned long long flags) {
  return watchInstantiate(exec, graph, cuGraphFunctions(), [&] {
    return forward<cuGraphInstantiateWithFlags>("cuGraphInstantiateWithFlags", exec, graph, flags);
  });
}

MNEME_RECORD_API int cuGraphInstantiateWithParams(void** exec, void* graph, void* params) {
  return watchInstantiate(exec, graph, cuGraphFunctions(), [&] {
    return forward<cuGraphInstantiateWithParams>("cuGraphInstantiateWithParams", exec, graph,
                                                 params);
  });
}

MNEME_RECORD_API int cuGraphInstantiateWithParams_ptsz(void** exec, void* graph, void* params) {
  return watchInstantiate(exec, graph, cuGraphFunctions(), [&] {
    return forward<cuGraphInstantiateWithParams_ptsz>("cuGraphInstantiateWithParams_ptsz", exec,
                                                      graph, params);
  });
}

MNEME_RECORD_API int cudaGraphExecDestroy(void* exec) {
  return watchExecDestroy(
      exec, [&] { return forward<cudaGraphExecDestroy>("cudaGraphExecDestroy", exec); });
}

MNEME_RECORD_API int cuGraphExecDestroy(void* exec) {
  return watchExecDestroy(exec,
                          [&] { return forward<cuGraphExecDestroy>("cuGraphExecDestroy", exec); });
}

MNEME_RECORD_API int cudaGraphLaunch(void* exec, void* stream) {
  return launchGraph(exec, legacyStream(stream), kGraph, cudaGraphFunctions(),
                     [&] { return forward<cudaGraphLaunch>("cudaGraphLaunch", exec, stream); });
}

MNEME_RECORD_API int cudaGraphLaunch_ptsz(void* exec, void* stream) {
  return launchGraph(exec, perThreadStream(stream), kGraph, cudaGraphFunctions(), [&] {
    return forward<cudaGraphLaunch_ptsz>("cudaGraphLaunch_ptsz", exec, stream);
  });
}

MNEME_RECORD_API int cuGraphLaunch(void* exec, void* stream) {
  return launchGraph(exec, legacyStream(stream), kGraph, cuGraphFunctions(),
                     [&] { return forward<cuGraphLaunch>("cuGraphLaunch", exec, stream); });
}

MNEME_RECORD_API int cuGraphLaunch_ptsz(void* exec, void* stream) {
  return launchGraph(exec, perThreadStream(stream), kGraph, cuGraphFunctions(), [&] {
    return forward<cuGraphLaunch_ptsz>("cuGraphLaunch_ptsz", exec, stream);
  });
}
