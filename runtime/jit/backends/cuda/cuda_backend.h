// Room jit: tuned kernels on NVIDIA GPUs, loaded and launched by the driver in the contexts that
// the program's CUDA runtime has made.
#pragma once

#include <memory>
#include <string>

#include "runtime/devices/cuda/loaded_runtime.h"
#include "runtime/jit/jit_backend.h"

namespace mneme::jit {

/// Returns null if there is no driver, with the reason in `why`.
std::unique_ptr<Backend> makeCudaBackend(const mneme_launch& launch, std::string& why);

/// For tests: uses the given driver, which must never be destroyed, and runtime.
std::unique_ptr<Backend> makeCudaBackend(const device::cuda::Driver& driver,
                                         const device::cuda::LoadedRuntime& runtime);

} // namespace mneme::jit
