// Room jit: tuned kernels on NVIDIA GPUs, loaded and launched by the driver in the contexts that
// the program's CUDA runtime has made.
#pragma once

#include <memory>
#include <string>

#include "runtime/device/cuda/loaded_runtime.h"
#include "runtime/jit/backend.h"

namespace mneme::jit {

/// Null when there is no driver; `why` then says so.
std::unique_ptr<Backend> makeCudaBackend(const mneme_launch& launch, std::string& why);

/// With a runtime found elsewhere. `driver` is never destroyed. For tests.
std::unique_ptr<Backend> makeCudaBackend(const device::cuda::Driver& driver,
                                         const device::cuda::LoadedRuntime& runtime);

} // namespace mneme::jit
