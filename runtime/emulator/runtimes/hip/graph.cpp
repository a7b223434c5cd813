// Functions on graphs of the HIP API that differ from the shared ones in more than their names.
#include <algorithm>
#include <cstddef>

#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/graph_nodes.h"
#include "runtime/emulator/runtimes/core/own_calls.h"
#include "runtime/emulator/runtimes/hip/device_facts.h"

using namespace mneme::cpu_runtime;
using namespace mneme::cpu_runtime::hip;

namespace {

/// hipKernelNodeParams: KernelNodeParams in another order.
struct HipKernelParams {
  Dim3 blockDim;
  void** extra;
  const void* func;
  Dim3 gridDim;
  void** kernelParams;
  unsigned sharedMemBytes;

  KernelNodeParams asCuda() const {
    return {func, gridDim, blockDim, sharedMemBytes, kernelParams, extra};
  }
};

/// hipMemsetParams.
struct HipMemsetParams {
  void* dst;
  unsigned elementSize;
  size_t height;
  size_t pitch;
  unsigned value;
  size_t width;

  MemsetParams asCuda() const { return {dst, pitch, value, elementSize, width, height}; }
};

/// hipGraphNodeParams: the same parameters in the same place.
struct HipNodeParams {
  NodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    HipKernelParams kernel;
    HipMemsetParams memset;
  };
  long long reserved2;
};

/// What values of attributes are as long as in every version.
constexpr size_t kAttributeBytes = 32;

template <typename Hip, typename Call> Status withParams(const Hip* params, const Call& call) {
  if (!params)
    return remember(Status::InvalidValue);
  const auto converted = params->asCuda();
  return call(&converted);
}

/// Parameters of kernels and fills in the shared order; `call` may put results into the others.
template <typename Call> Status withNodeParams(HipNodeParams* params, const Call& call) {
  if (!params)
    return remember(Status::InvalidValue);
  auto* shared = reinterpret_cast<GraphNodeParams*>(params);
  if (params->type != NodeType::Kernel && params->type != NodeType::Memset)
    return call(shared);
  GraphNodeParams converted{};
  converted.type = params->type;
  if (params->type == NodeType::Kernel)
    converted.kernel = params->kernel.asCuda();
  else
    converted.memset = params->memset.asCuda();
  return call(&converted);
}

} // namespace

static_assert(sizeof(HipNodeParams) == sizeof(GraphNodeParams));

MNEME_RUNTIME_API Status hipGraphAddKernelNode(void** node, void* graph, void* const* dependencies,
                                               size_t count, const HipKernelParams* params) {
  return withParams(params, [&](const KernelNodeParams* converted) {
    return gpuGraphAddKernelNode(node, graph, dependencies, count, converted);
  });
}

MNEME_RUNTIME_API Status hipGraphKernelNodeGetParams(void* node, HipKernelParams* params) {
  KernelNodeParams found{};
  const Status status =
      params ? gpuGraphKernelNodeGetParams(node, &found) : remember(Status::InvalidValue);
  if (status == Status::Success)
    *params = {found.blockDim, found.extra,        found.func,
               found.gridDim,  found.kernelParams, found.sharedMemBytes};
  return status;
}

MNEME_RUNTIME_API Status hipGraphKernelNodeSetParams(void* node, const HipKernelParams* params) {
  return withParams(params, [&](const KernelNodeParams* converted) {
    return gpuGraphKernelNodeSetParams(node, converted);
  });
}

MNEME_RUNTIME_API Status hipGraphExecKernelNodeSetParams(void* exec, void* node,
                                                         const HipKernelParams* params) {
  return withParams(params, [&](const KernelNodeParams* converted) {
    return gpuGraphExecKernelNodeSetParams(exec, node, converted);
  });
}

MNEME_RUNTIME_API Status hipGraphKernelNodeSetAttribute(void* node, int id, const void* value) {
  char wide[64] = {};
  if (!value)
    return remember(Status::InvalidValue);
  std::copy_n(static_cast<const char*>(value), kAttributeBytes, wide);
  return gpuGraphKernelNodeSetAttribute(node, id, wide);
}

MNEME_RUNTIME_API Status hipGraphKernelNodeGetAttribute(void* node, int id, void* value) {
  char wide[64] = {};
  const Status status =
      value ? gpuGraphKernelNodeGetAttribute(node, id, wide) : remember(Status::InvalidValue);
  if (status == Status::Success)
    std::copy_n(wide, kAttributeBytes, static_cast<char*>(value));
  return status;
}

MNEME_RUNTIME_API Status hipGraphKernelNodeCopyAttributes(void* source, void* destination) {
  return gpuGraphKernelNodeCopyAttributes(destination, source);
}

MNEME_RUNTIME_API Status hipGraphAddMemsetNode(void** node, void* graph, void* const* dependencies,
                                               size_t count, const HipMemsetParams* params) {
  return withParams(params, [&](const MemsetParams* converted) {
    return gpuGraphAddMemsetNode(node, graph, dependencies, count, converted);
  });
}

MNEME_RUNTIME_API Status hipGraphMemsetNodeGetParams(void* node, HipMemsetParams* params) {
  MemsetParams found{};
  const Status status =
      params ? gpuGraphMemsetNodeGetParams(node, &found) : remember(Status::InvalidValue);
  if (status == Status::Success)
    *params = {found.dst, found.elementSize, found.height, found.pitch, found.value, found.width};
  return status;
}

MNEME_RUNTIME_API Status hipGraphMemsetNodeSetParams(void* node, const HipMemsetParams* params) {
  return withParams(params, [&](const MemsetParams* converted) {
    return gpuGraphMemsetNodeSetParams(node, converted);
  });
}

MNEME_RUNTIME_API Status hipGraphExecMemsetNodeSetParams(void* exec, void* node,
                                                         const HipMemsetParams* params) {
  return withParams(params, [&](const MemsetParams* converted) {
    return gpuGraphExecMemsetNodeSetParams(exec, node, converted);
  });
}

MNEME_RUNTIME_API Status hipGraphAddNode(void** node, void* graph, void* const* dependencies,
                                         size_t count, HipNodeParams* params) {
  return withNodeParams(params, [&](GraphNodeParams* converted) {
    return gpuGraphAddNode_v2(node, graph, dependencies, nullptr, count, converted);
  });
}

MNEME_RUNTIME_API Status hipGraphNodeSetParams(void* node, HipNodeParams* params) {
  return withNodeParams(
      params, [&](GraphNodeParams* converted) { return gpuGraphNodeSetParams(node, converted); });
}

MNEME_RUNTIME_API Status hipGraphExecNodeSetParams(void* exec, void* node, HipNodeParams* params) {
  return withNodeParams(params, [&](GraphNodeParams* converted) {
    return gpuGraphExecNodeSetParams(exec, node, converted);
  });
}

/// HIP 5.2, which stands for HIP 5 here, counts types from 1.
MNEME_RUNTIME_API Status hipGraphNodeGetType(void* node, int* type) {
  NodeType found{};
  const Status status = type ? gpuGraphNodeGetType(node, &found) : remember(Status::InvalidValue);
  if (status == Status::Success)
    *type = static_cast<int>(found) + (runtimeMajor() < 6 ? 1 : 0);
  return status;
}

/// Only the status describes the failure.
MNEME_RUNTIME_API Status hipGraphInstantiate(void** exec, void* graph, void** errorNode, char* log,
                                             size_t logBytes) {
  if (errorNode)
    *errorNode = nullptr;
  if (log && logBytes > 0)
    *log = 0;
  return gpuGraphInstantiateWithFlags(exec, graph, 0);
}

MNEME_RUNTIME_API Status hipGraphExecUpdate(void* exec, void* graph, void** errorNode,
                                            UpdateResult* result) {
  GraphExecUpdateResultInfo info{UpdateResult::Error, nullptr, nullptr};
  const Status status = gpuGraphExecUpdate(exec, graph, &info);
  if (errorNode)
    *errorNode = info.errorNode;
  if (result)
    *result = info.result;
  return status;
}
