// Room record: NVIDIA GPUs under CUDA's shared runtime.
#pragma once

#include "runtime/record/backend.h"

namespace mneme::record {

/// Null when there is no such runtime in this process.
std::unique_ptr<Backend> makeCudaBackend();

} // namespace mneme::record
