// Room jit: kernels in executable graphs on NVIDIA GPUs. Handles of graphs are the same for the
// runtime and the driver.
#pragma once

#include <functional>

#include "runtime/jit/backends/cuda/cuda_context.h"
#include "runtime/jit/backends/cuda/cuda_kernel.h"
#include "runtime/jit/jit_backend.h"

namespace mneme::jit {

/// Implements Backend::visitKernels() for kernels that run in `context`, including those of nested
/// graphs. Visits nothing with drivers before CUDA 12.0, and nothing of graphs that kernels launch.
void visitGraphKernels(const device::cuda::Driver& driver,
                       const device::cuda::LoadedRuntime& runtime, const CudaContext& context,
                       const ExecutableGraph& graph,
                       const std::function<void(const GraphKernel&)>& visit);

/// Implements Backend::replaceIn().
bool replaceInGraph(const device::cuda::Driver& driver, const ExecutableGraph& graph,
                    const GraphKernel& kernel, CudaPlacement& placement,
                    const tuned::Dims& dims) noexcept;

} // namespace mneme::jit
