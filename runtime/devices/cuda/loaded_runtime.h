// Room devices/cuda: the CUDA runtime library that the program has loaded.
#pragma once

#include "runtime/core/base/last_error.h"
#include "runtime/devices/cuda/application.h"

namespace mneme::device::cuda {

/// Launch settings from a kernel's attributes (cudaFuncGetAttributes).
struct LaunchWishes {
  int maxThreadsPerBlock = 0; ///< 0: unknown
  int maxDynamicSharedBytes = 0;
  int sharedCarveout = -1; ///< per cent; -1: the driver's choice
  int clusterPolicy = 0;   ///< 0: the driver's choice
  bool hasLargeClusters = false;
};

/// The runtime's functions. They are null if the runtime does not have them, or is linked
/// statically into a stripped program. Statuses are the runtime's; 0 means success.
struct LoadedRuntime {
  /// Returns the runtime that `entry`, one of its launch functions, belongs to.
  static LoadedRuntime find(const void* entry) noexcept;

  int (*getDevice)(int* device) = nullptr;
  int (*peekAtLastError)() = nullptr;
  int (*getLastError)() = nullptr;
  int (*getSymbolAddress)(void** address, const void* hostShadow) = nullptr;
  int (*getFuncAttributes)(void* attributes, const void* handle) = nullptr;
  int (*graphKernelNodeGetParams)(void* node, void* params) = nullptr;
  KernelLookup lookup;

  KeepsLastError keepLastError() const { return {peekAtLastError, getLastError}; }
  /// Returns false if the runtime does not know. Leaves no last error.
  bool askWishes(const void* handle, LaunchWishes& wishes) const noexcept;
  /// Returns the host handle of the kernel in a node of a graph; null if it has none. Leaves no
  /// last error.
  const void* handleIn(CUgraphNode node) const noexcept;
  /// Returns 0 if unknown. Leaves no last error.
  CUdeviceptr addressOf(const void* hostShadow) const noexcept;
};

enum class DefaultStream { Unknown, Legacy, PerThread };

/// Returns the meaning of stream 0 for a launch function of the runtime. Fast after the first call.
/// Thread-safe.
DefaultStream defaultStreamOf(const void* entry) noexcept;

} // namespace mneme::device::cuda
