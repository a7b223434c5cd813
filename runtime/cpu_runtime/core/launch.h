// Room cpu_runtime: the rules a launch has to keep.
#pragma once

#include "runtime/cpu_runtime/core/graph.h"
#include "runtime/cpu_runtime/core/kernels.h"
#include "runtime/cpu_runtime/core/types.h"

namespace mneme::cpu_runtime {

/// Threads a block of the kernel may have.
int maxThreadsPerBlock(const Kernel& kernel);
/// Dynamic shared memory a block of the kernel may have, as opted in.
size_t maxDynamicSharedBytes(const Kernel& kernel);
/// Blocks of `threads` threads that are resident on one multiprocessor at once.
int residentBlocks(const Kernel& kernel, int threads, size_t dynamicSharedBytes);

/// A launch that has run, as a profiler sees it.
struct SeenLaunch {
  const char* kernel; ///< mangled
  const void* handle;
  uint32_t grid[3], block[3];
  uint64_t staticBytes, dynamicBytes; ///< of shared memory
  uint64_t startNs, endNs;
};
using LaunchWatcher = void (*)(const SeenLaunch& launch);
/// Who notes launches from here on, in place of the file of kernel times.
void watchLaunches(LaunchWatcher watcher) noexcept;

/// Launches on each of several devices by one call. As there is one device, there is one launch.
Status startOnDevices(const DeviceLaunch* launches, unsigned launchCount, unsigned flags,
                      bool isCooperative);

/// A kernel in a graph: checks its launch and makes it ready to run.
Status prepareKernel(const KernelWork& work);
/// Whether its threads may wait for others than its own.
bool mayWaitForHost(const KernelWork& work);
/// Whether its blocks are tied to each other.
bool hasTiedBlocks(const KernelWork& work);
/// Whether its variant may run in place of the kernel, and is ready to. Changes nothing the program
/// can see. \throws mneme::Error
bool canRunVariant(const KernelWork& work);
/// Runs it; what goes wrong inside surfaces as with any launch.
Status runKernel(const KernelWork& work);

} // namespace mneme::cpu_runtime
