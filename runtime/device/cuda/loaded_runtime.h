// Room device/cuda: the CUDA runtime library that the program around us has loaded.
#pragma once

#include "runtime/device/cuda/application.h"

namespace mneme::device::cuda {

/// What a kernel's attributes (cudaFuncGetAttributes) say about how it wants to be launched.
struct LaunchWishes {
  int maxThreadsPerBlock = 0; ///< 0: unknown
  int maxDynamicSharedBytes = 0;
  int sharedCarveout = -1; ///< per cent; -1: the driver's choice
  int clusterPolicy = 0;   ///< 0: the driver's choice
  bool hasLargeClusters = false;
};

/// The runtime's functions, null where it has none, or is linked into a program that is stripped.
/// Statuses are the runtime's, 0 is success.
struct LoadedRuntime {
  /// The runtime that `entry`, one of its launch functions, belongs to.
  static LoadedRuntime find(const void* entry) noexcept;

  int (*getDevice)(int* device) = nullptr;
  int (*peekAtLastError)() = nullptr;
  int (*getLastError)() = nullptr;
  int (*getSymbolAddress)(void** address, const void* hostShadow) = nullptr;
  int (*getFuncAttributes)(void* attributes, const void* handle) = nullptr;
  int (*graphKernelNodeGetParams)(void* node, void* params) = nullptr;
  KernelLookup lookup;

  KeepsLastError keepLastError() const { return {peekAtLastError, getLastError}; }
  /// False if the runtime cannot tell. Leaves no last error.
  bool askWishes(const void* handle, LaunchWishes& wishes) const noexcept;
  /// The host handle of the kernel in a node of a graph; null if it has none. Leaves no last error.
  const void* handleIn(CUgraphNode node) const noexcept;
  /// 0 if unknown. Leaves no last error.
  CUdeviceptr addressOf(const void* hostShadow) const noexcept;
};

enum class DefaultStream { Unknown, Legacy, PerThread };

/// What stream 0 means to a launch function of the runtime. Quick but for the first call.
/// Thread-safe.
DefaultStream defaultStreamOf(const void* entry) noexcept;

} // namespace mneme::device::cuda
