// Room emulator/runtimes: the rules for launches.
#pragma once

#include "runtime/emulator/runtimes/core/graph.h"
#include "runtime/emulator/runtimes/core/kernels.h"
#include "runtime/emulator/runtimes/core/types.h"

namespace mneme::cpu_runtime {

/// Returns the maximum number of threads in a block of the kernel.
int maxThreadsPerBlock(const Kernel& kernel);
/// Returns the maximum dynamic shared memory of a block of the kernel, as set by the program.
size_t maxDynamicSharedBytes(const Kernel& kernel);
/// Returns the number of blocks of `threads` threads that fit on a multiprocessor at the same time.
int residentBlocks(const Kernel& kernel, int threads, size_t dynamicSharedBytes);

/// A completed launch, as a profiler sees it.
struct SeenLaunch {
  const char* kernel; ///< mangled
  const void* handle;
  uint32_t grid[3], block[3];
  uint64_t staticBytes, dynamicBytes; ///< of shared memory
  uint64_t startNs, endNs;
};
using LaunchWatcher = void (*)(const SeenLaunch& launch);
/// Sets the callback that receives launches from now on, instead of the file of kernel times.
void watchLaunches(LaunchWatcher watcher) noexcept;

/// Launches on several devices with one call. Because there is only one device, there is one
/// launch.
Status startOnDevices(const DeviceLaunch* launches, unsigned launchCount, unsigned flags,
                      bool isCooperative);

/// Checks the launch of a kernel in a graph and makes it ready to run.
Status prepareKernel(const KernelWork& work);
/// Returns whether its threads may wait for threads other than its own.
bool mayWaitForHost(const KernelWork& work);
/// Returns whether its blocks depend on each other.
bool hasTiedBlocks(const KernelWork& work);
/// Returns whether its variant may run instead of the kernel and is ready to. Changes nothing that
/// the program can see. \throws mneme::Error
bool canRunVariant(const KernelWork& work);
/// Runs it. Faults inside it are reported as for any launch.
Status runKernel(const KernelWork& work);

} // namespace mneme::cpu_runtime
