// Room devices/cuda: kernels in executable graphs. Handles of graphs are the same for the runtime
// and the driver.
#pragma once

#include <functional>

#include "runtime/devices/cuda/cuda_driver.h"

namespace mneme::device::cuda {

struct KernelNode {
  CUgraphNode node = nullptr;
  CUkernelNodeParams params;
  bool hasTiedBlocks = false; ///< its blocks depend on each other, or may do so
};

/// Visits the kernel nodes of `graph`, from which `exec` was made, and of graphs in it, that can be
/// replaced in `exec` and for which `isWanted` holds, which is asked when only the parameters are
/// known. Visits nothing with drivers before CUDA 12.0, and nothing of graphs that kernels launch.
void visitKernelNodes(const Driver& driver, CUgraphExec exec, CUgraph graph,
                      const std::function<bool(const KernelNode&)>& isWanted,
                      const std::function<void(const KernelNode&)>& visit);

} // namespace mneme::device::cuda
