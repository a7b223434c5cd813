// Room jit: which context a launch of this thread goes to.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/device/cuda/loaded_runtime.h"

namespace mneme::jit {

/// A device's primary context in one of its lives: cudaDeviceReset() ends it and the next one often
/// has the same handle, but never the same id. (Drivers before CUDA 12.0 have no ids: there a reset
/// between two launches of a tuned kernel goes unseen.)
struct CudaContext {
  device::cuda::CUcontext handle = nullptr;
  uint64_t id = 0;
  device::cuda::CUdevice device = -1;
};

/// The context in which the runtime launches for this thread now. Nothing if there is none yet, if
/// it is no primary context (the program's own, or a green one), or if the runtime is about to
/// select another. Cheap; no allocation.
std::optional<CudaContext> currentContext(const device::cuda::Driver& driver,
                                          const device::cuda::LoadedRuntime& runtime) noexcept;

} // namespace mneme::jit
