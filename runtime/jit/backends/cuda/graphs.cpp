#include "runtime/jit/backends/cuda/graphs.h"

#include <climits>

#include "runtime/devices/cuda/graph_nodes.h"

namespace mneme::jit {
using namespace device::cuda;

void visitGraphKernels(const Driver& driver, const LoadedRuntime& runtime,
                       const CudaContext& context, const ExecutableGraph& graph,
                       const std::function<void(const GraphKernel&)>& visit) {
  const void* handle = nullptr; // of the node that is visited
  const auto isOurs = [&](const KernelNode& one) {
    const auto& params = one.params;
    handle = params.ctx == context.handle && !params.extra ? runtime.handleIn(one.node) : nullptr;
    return handle != nullptr;
  };
  visitKernelNodes(driver, static_cast<CUgraphExec>(graph.exec), static_cast<CUgraph>(graph.graph),
                   isOurs, [&](const KernelNode& one) {
                     const auto& params = one.params;
                     visit({.node = one.node,
                            .handle = handle,
                            .dims = {{params.gridDimX, params.gridDimY, params.gridDimZ},
                                     {params.blockDimX, params.blockDimY, params.blockDimZ}},
                            .sharedBytes = params.sharedMemBytes,
                            .args = params.kernelParams,
                            .mayReshape = !one.hasTiedBlocks});
                   });
}

bool replaceInGraph(const Driver& driver, const ExecutableGraph& graph, const GraphKernel& kernel,
                    CudaPlacement& placement, const tuned::Dims& dims) noexcept {
  const auto& [x, y, z] = kernel.dims.block;
  const uint64_t most = placement.maxThreadsPerBlock();
  const auto allowed = [&] {
    return kernel.sharedBytes <= static_cast<uint64_t>(placement.maxDynamicSharedBytes());
  };
  // A copy in front of the kernel would be a node that the program's graph does not have.
  if (!placement.constants().empty() || (most != 0 && uint64_t{x} * y * z > most) ||
      kernel.sharedBytes > INT_MAX || (!allowed() && !(placement.refreshWishes() && allowed())))
    return false;
  CUkernelNodeParams params;
  params.func = placement.function();
  params.gridDimX = dims.grid.x, params.gridDimY = dims.grid.y, params.gridDimZ = dims.grid.z;
  params.blockDimX = dims.block.x, params.blockDimY = dims.block.y;
  params.blockDimZ = dims.block.z;
  params.sharedMemBytes = static_cast<unsigned>(kernel.sharedBytes);
  params.kernelParams = kernel.args;
  return driver.cuGraphExecKernelNodeSetParams(static_cast<CUgraphExec>(graph.exec),
                                               static_cast<CUgraphNode>(kernel.node),
                                               &params) == CUDA_SUCCESS;
}

} // namespace mneme::jit
