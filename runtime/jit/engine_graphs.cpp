// Kernels in graphs: captured as the program launches them, tuned in executable graphs.
#include "runtime/core/base/cancellation.h"
#include "runtime/jit/engine.h"

namespace mneme::jit {

/// What a program asks of its graph is what it has launched, and what it changes there must not
/// meet code for other arguments or dimensions: nodes hold the program's own kernel.
int Engine::launchCaptured(const Kernel& kernel, const mneme_launch& launch) {
  if (kernel.isMarked())
    backend_.load(std::memory_order_relaxed)->allowSharedMemory(launch);
  const CancellationOfCaller asCaller;
  return mneme_rt_call_vendor(&launch);
}

void Engine::graphChanged(const ExecutableGraph& graph) noexcept {
  Backend* const backend = backend_.load(std::memory_order_acquire);
  if (!backend || isOff_.load(std::memory_order_relaxed) || mneme_jit_is_disabled())
    return;
  const DeferredCancellation deferred;
  try {
    backend->visitKernels(graph, [&](const GraphKernel& one) { tuneIn(graph, one); });
  } catch (const std::exception&) { // no memory: the graph runs as it was built
  }
}

void Engine::tuneIn(const ExecutableGraph& graph, const GraphKernel& one) {
  const mneme_launch alike{.version = MNEME_RT_ABI,
                           .form = MNEME_LAUNCH_PLAIN,
                           .kernel = one.handle,
                           .grid = one.dims.grid,
                           .block = one.dims.block,
                           .args = one.args,
                           .sharedBytes = one.sharedBytes};
  Kernel* kernel = table_.find(one.handle);
  if (!kernel)
    kernel = resolve(alike);
  if (!kernel->isTuned() || !kernel->isToldByArguments())
    return;
  Backend& backend = *backend_.load(std::memory_order_relaxed);
  const LaunchShape shape{.device = backend.currentDevice(),
                          .mayReshape = one.mayReshape,
                          .dims = one.dims,
                          .sharedBytes = one.sharedBytes,
                          .plugins = mneme_jit_pass_plugins()};
  Plan plan;
  if (shape.device < 0 || !planOf(*kernel, backend, shape, one.args, plan))
    return;
  LoadedKernel* const loaded = loadedFor(plan);
  const bool isTuned = loaded && backend.replaceIn(graph, one, *loaded, plan.dims);
  if (settings_.trace.cache)
    (isTuned ? counters_.tunedLaunches : counters_.otherLaunches)
        .fetch_add(1, std::memory_order_relaxed);
}

} // namespace mneme::jit
