// Room recorder: executable graphs of HIP.
#include "runtime/recorder/interpose/alike.h"
#include "runtime/recorder/recorder_exported.h"

using namespace mneme::record;

namespace {

using Version = int (*)(int* version);
using GetParams = int (*)(void* node, void* params);
using GetAttribute = int (*)(void* node, int attribute, void* value);

/// HIP counts types of nodes from 1 before 5.3.
int firstType() noexcept {
  static const int first = [] {
    constexpr int kHip53 = 50300000;
    const auto versionOf = find<Version>("hipRuntimeGetVersion");
    int version = 0;
    return versionOf && versionOf(&version) == 0 && version < kHip53 ? 1 : 0;
  }();
  return first;
}

constexpr int kMemcpy = 1, kMemcpyFromSymbol = 12, kMemcpyToSymbol = 13;

/// Copies from and to symbols are copies. Their own types are those of other nodes elsewhere.
int typeOf(void* node, int* type) {
  static const auto get = find<decltype(GraphFunctions::nodeType)>("hipGraphNodeGetType");
  const int status = get(node, type);
  if (status == 0 && firstType() == 0 && (*type == kMemcpyFromSymbol || *type == kMemcpyToSymbol))
    *type = kMemcpy;
  return status;
}

constexpr const char* kGraph = "a HIP graph was launched; the kernels in it are not recorded";

/// HIP's structure for a kernel node, and room for what newer ones may add.
struct KernelParams {
  mneme_dim3 block;
  void** extra;
  const void* function;
  mneme_dim3 grid;
  void** args;
  unsigned sharedBytes;
  char more[64];
};

constexpr int kCooperative = 2; // an attribute of kernel nodes

int readKernel(void* node, NodeKernel& kernel) {
  static const auto get = find<GetParams>("hipGraphKernelNodeGetParams");
  static const auto attributeOf = find<GetAttribute>("hipGraphKernelNodeGetAttribute");
  KernelParams params{};
  const int status = get ? get(node, &params) : kInitializationError;
  if (status != 0)
    return status;
  kernel.function = params.function;
  kernel.grid = params.grid;
  kernel.block = params.block;
  kernel.sharedBytes = params.sharedBytes;
  kernel.args = params.args;
  kernel.extra = params.extra;
  union {
    char bytes[64];
    int isCooperative;
  } value{};
  if (attributeOf && attributeOf(node, kCooperative, &value) == 0)
    kernel.isCooperative = value.isCooperative != 0;
  return 0;
}

const GraphFunctions& ofRuntime() noexcept {
  using Destroy = int (*)(void*);
  static const GraphFunctions functions{
      .getNodes = find<int (*)(void*, void**, size_t*)>("hipGraphGetNodes"),
      .nodeType = find<void*>("hipGraphNodeGetType") ? &typeOf : nullptr,
      .allocParams = find<int (*)(void*, void*)>("hipGraphMemAllocNodeGetParams"),
      .childGraph = find<int (*)(void*, void**)>("hipGraphChildGraphNodeGetGraph"),
      .peekAtLastError = find<int (*)()>("hipPeekAtLastError"),
      .getLastError = find<int (*)()>("hipGetLastError"),
      .execFlags = find<int (*)(void*, unsigned long long*)>("hipGraphExecGetFlags"),
      .firstType = firstType(),
      .getEdges = find<int (*)(void*, void**, void**, size_t*)>("hipGraphGetEdges"),
      .clone = find<int (*)(void**, void*)>("hipGraphClone"),
      .destroy = find<Destroy>("hipGraphDestroy"),
      .findInClone = find<int (*)(void**, void*, void*)>("hipGraphNodeFindInClone"),
      .destroyNode = find<Destroy>("hipGraphDestroyNode"),
      .instantiate =
          find<int (*)(void**, void*, unsigned long long)>("hipGraphInstantiateWithFlags"),
      .destroyExec = find<Destroy>("hipGraphExecDestroy"),
      .setEnabled = find<int (*)(void*, void*, unsigned)>("hipGraphNodeSetEnabled"),
      .launch = find<int (*)(void*, void*)>("hipGraphLaunch"),
      .readKernel = &readKernel};
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

MNEME_RECORD_API int hipGraphExecDestroy(void* exec) {
  return watchExecDestroy(
      exec, [&] { return forward<hipGraphExecDestroy>("hipGraphExecDestroy", exec); });
}

MNEME_RECORD_API int hipGraphLaunch(void* exec, void* stream) {
  return launchGraph(exec, stream, kGraph, ofRuntime(),
                     [&] { return forward<hipGraphLaunch>("hipGraphLaunch", exec, stream); });
}

MNEME_RECORD_API int hipGraphLaunch_spt(void* exec, void* stream) {
  return launchGraph(exec, perThreadStream(stream), kGraph, ofRuntime(), [&] {
    return forward<hipGraphLaunch_spt>("hipGraphLaunch_spt", exec, stream);
  });
}
