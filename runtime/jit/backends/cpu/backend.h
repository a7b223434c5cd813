// Room jit: tuned kernels on the CPU device, through the runtimes of our own that are preloaded.
#pragma once

#include <memory>

#include "runtime/jit/backend.h"

namespace mneme::jit {

/// Null when this process does not run on the CPU device.
std::unique_ptr<Backend> makeCpuBackend();

} // namespace mneme::jit
