// Room jit: tuned kernels on the CPU device, through mneme's own preloaded runtimes.
#pragma once

#include <memory>

#include "runtime/jit/jit_backend.h"

namespace mneme::jit {

/// Returns null if this process does not use the CPU device.
std::unique_ptr<Backend> makeCpuBackend();

} // namespace mneme::jit
