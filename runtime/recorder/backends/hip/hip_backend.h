// Room recorder: AMD GPUs used through ROCm's HIP runtime.
#pragma once

#include "runtime/recorder/record_backend.h"

namespace mneme::record {

/// Returns null if this process has no such runtime.
std::unique_ptr<Backend> makeHipBackend();

} // namespace mneme::record
