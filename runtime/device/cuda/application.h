// Room device/cuda: CUDA as the application around us uses it: its contexts, its captures, the
// modules of its kernels. Shared by the recorder and the tuned-kernel JIT, which work inside it.
#pragma once

#include "runtime/base/last_error.h"
#include "runtime/device/cuda/driver.h"

namespace mneme::device::cuda {

/// While it lives, driver calls of this thread do not spoil what the application captures into a
/// graph.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver& driver) : driver_(driver) {
    isSet_ = driver_.cuThreadExchangeStreamCaptureMode(&mode_) == CUDA_SUCCESS;
  }
  ~RelaxedCapture() {
    if (isSet_)
      driver_.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

private:
  const Driver& driver_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool isSet_ = false;
};

using mneme::KeepsLastError; // cudaPeekAtLastError and cudaGetLastError

/// cudaLaunchConfig_t. Its attributes have the driver's numbers and layout, and so has the whole:
/// the driver's 32 bits of shared memory are followed by padding.
struct RuntimeLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  size_t sharedBytes;
  CUstream stream;
  CUlaunchAttribute* attributes;
  unsigned attributeCount;
};
static_assert(sizeof(RuntimeLaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(RuntimeLaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(RuntimeLaunchConfig, attributeCount) == offsetof(CUlaunchConfig, numAttrs));

/// Whether the blocks of a launch are tied to each other: all resident, or in clusters.
bool hasTiedBlocks(const RuntimeLaunchConfig& config) noexcept;

/// Asks the program's runtime, CUDA's or HIP's, to let the kernel of a host handle have as much
/// dynamic shared memory. False where it need not be asked, refuses, or cannot be found.
bool allowSharedMemory(const void* handle, size_t sharedBytes) noexcept;

/// The primary context of a device if there is one now; null otherwise.
CUcontext primaryContext(const Driver& driver, CUdevice device) noexcept;

/// The runtime's functions that lead from a kernel's host handle to the driver; either may be null.
struct KernelLookup {
  int (*functionOf)(void** function, const void* handle) = nullptr; ///< cudaGetFuncBySymbol
  int (*kernelOf)(void** kernel, const void* handle) = nullptr;     ///< cudaGetKernel
};

/// The module a kernel of the runtime lies in on the current device; null if it cannot be found.
CUmodule moduleOf(const Driver& driver, const KernelLookup& lookup, const void* handle) noexcept;

} // namespace mneme::device::cuda
