// Room jit: finds the context that a launch by this thread uses.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/devices/cuda/loaded_runtime.h"

namespace mneme::jit {

/// A device's primary context between two resets. cudaDeviceReset() ends it; the next context often
/// has the same handle, but never the same id. (Drivers before CUDA 12.0 have no ids, so a reset
/// between two launches of a tuned kernel goes unnoticed.)
struct CudaContext {
  device::cuda::CUcontext handle = nullptr;
  uint64_t id = 0;
  device::cuda::CUdevice device = -1;
};

/// Returns the context in which the runtime launches for this thread now. Returns nothing if there
/// is none yet, if it is not a primary context (but the program's own, or a green one), or if the
/// runtime is about to select another. Cheap; allocates nothing.
std::optional<CudaContext> currentContext(const device::cuda::Driver& driver,
                                          const device::cuda::LoadedRuntime& runtime) noexcept;

} // namespace mneme::jit
