// Room jit: tuned kernels on the CPU device, through the CUDA runtime of our own that is preloaded.
#pragma once

#include <memory>

#include "runtime/jit/backend.h"

namespace mneme::jit {

/// Null when this process does not run on the CPU device.
std::unique_ptr<Backend> makeCpuBackend();

} // namespace mneme::jit
