// Room recorder: executable graphs of HIP.
#include "runtime/recorder/graph_launches.h"
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

bool isHip5() noexcept {
  constexpr int kHip6 = 60000000;
  const auto versionOf = find<int (*)(int*)>("hipRuntimeGetVersion");
  int version = 0;
  return versionOf && versionOf(&version) == 0 && version < kHip6;
}

const GraphFunctions& ofRuntime() noexcept {
  static const GraphFunctions functions{
      .getNodes = find<int (*)(void*, void**, size_t*)>("hipGraphGetNodes"),
      .nodeType = find<int (*)(void*, int*)>("hipGraphNodeGetType"),
      .allocParams = find<int (*)(void*, void*)>("hipGraphMemAllocNodeGetParams"),
      .childGraph = find<int (*)(void*, void**)>("hipGraphChildGraphNodeGetGraph"),
      .peekAtLastError = find<int (*)()>("hipPeekAtLastError"),
      .getLastError = find<int (*)()>("hipGetLastError"),
      .firstType = isHip5() ? 1 : 0};
  return functions;
}

} // namespace

MNEME_RECORD_API int hipGraphInstantiate(void** exec, void* graph, void* third, void* fourth,
                                         size_t fifth) {
  return watchInstantiate(exec, graph, ofRuntime(), [&] {
    return forward<hipGraphInstantiate>("hipGraphInstantiate", exec, graph, third, fourth, fifth);
  });
}

MNEME_RECORD_API int hipGraphInstantiateWithFlags(void** exec, void* graph,
                                                  unsigned long long flags) {
  return watchInstantiate(exec, graph, ofRuntime(), [&] {
    return forward<hipGraphInstantiateWithFlags>("hipGraphInstantiateWithFlags", exec, graph,
                                                 flags);
  });
}

MNEME_RECORD_API int hipGraphInstantiateWithParams(void** exec, void* graph, void* params) {
  return watchInstantiate(exec, graph, ofRuntime(), [&] {
    return forward<hipGraphInstantiateWithParams>("hipGraphInstantiateWithParams", exec, graph,
                                                  params);
  });
}
