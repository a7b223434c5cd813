// Room record: AMD GPUs under ROCm's HIP runtime.
#pragma once

#include "runtime/record/backend.h"

namespace mneme::record {

/// Null when there is no such runtime in this process.
std::unique_ptr<Backend> makeHipBackend();

} // namespace mneme::record
