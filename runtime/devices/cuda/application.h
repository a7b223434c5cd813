// Room devices/cuda: CUDA as used by the application that mneme runs in: its contexts, its captures
// and the modules of its kernels. Shared by the recorder and the tuned-kernel JIT.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/abi/context_limits.h"
#include "runtime/core/embed/device_code.h"
#include "runtime/devices/cuda/cuda_driver.h"

namespace mneme::device::cuda {

/// While it exists, driver calls of this thread do not invalidate the application's graph captures.
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

/// cudaLaunchConfig_t. It has the driver's layout, because the driver's 32-bit shared memory size
/// is followed by padding; its attributes also have the driver's numbers and layout.
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

/// Returns whether the blocks of a launch depend on each other: a cooperative launch, or clusters.
bool hasTiedBlocks(const RuntimeLaunchConfig& config) noexcept;

/// Returns whether another kernel, or other dimensions, may be launched with these attributes: the
/// driver understands each as the runtime does. Device-updatable nodes hand the program a handle to
/// the kernel that was launched, so they must have its own.
bool mayReplaceKernel(const RuntimeLaunchConfig& config) noexcept;

/// Raises the limit of dynamic shared memory for the kernel of a host handle through the program's
/// CUDA or HIP runtime. Returns false if that is not needed, is refused, or the runtime cannot be
/// found.
bool allowSharedMemory(const void* handle, size_t sharedBytes) noexcept;

/// Returns the primary context of a device if it exists; null otherwise.
CUcontext primaryContext(const Driver& driver, CUdevice device) noexcept;

/// Returns the green context that a stream belongs to; of the default stream, the one that is
/// current. Null if it is none, or the driver has none.
CUgreenCtx greenContext(const Driver& driver, CUstream stream) noexcept;

/// A limit of contexts, and where ContextLimits has it.
struct NumberedLimit {
  CUlimit number;
  uint64_t ContextLimits::* value;
  const char* what;
};
inline constexpr std::array<NumberedLimit, 4> kContextLimits = {
    {{CU_LIMIT_STACK_SIZE, &ContextLimits::stackBytes, "bytes of stack for a thread"},
     {CU_LIMIT_PRINTF_FIFO_SIZE, &ContextLimits::printBytes, "bytes that kernels can print"},
     {CU_LIMIT_MALLOC_HEAP_SIZE, &ContextLimits::heapBytes, "bytes of heap"},
     {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, &ContextLimits::ownLaunches,
      "launches of kernels' own"}}};

/// The runtime's functions that map a kernel's host handle to the driver's handle. Either may be
/// null.
struct KernelLookup {
  int (*functionOf)(void** function, const void* handle) = nullptr; ///< cudaGetFuncBySymbol
  int (*kernelOf)(void** kernel, const void* handle) = nullptr;     ///< cudaGetKernel
};

/// Returns the module that holds a kernel of the runtime on the current device; null if it cannot
/// be found.
CUmodule moduleOf(const Driver& driver, const KernelLookup& lookup, const void* handle) noexcept;
/// Returns the module that a library has in the current context; null if it has none.
CUmodule moduleOf(const Driver& driver, CUlibrary library) noexcept;

/// Returns which of these modules and libraries has the kernel, by any handle of it; null if none.
/// The libraries must stay loaded meanwhile. Where kernels are loaded when they are first used, the
/// driver loads those of this name.
void* ownerOf(const Driver& driver, const void* kernel, const std::string& name,
              std::span<void* const> modules, std::span<void* const> libraries) noexcept;

/// Asks where the arguments of a kernel lie, by a handle of a function or of a library's kernel.
/// Returns nothing if the driver does not say (before CUDA 12.4).
std::optional<std::vector<embed::DeviceParameter>> parametersOf(const Driver& driver,
                                                                const void* kernel);

} // namespace mneme::device::cuda
