// Room record: NVIDIA GPUs under CUDA's shared runtime, or under the driver alone.
#pragma once

#include "runtime/record/backend.h"

namespace mneme::record {

/// Null when there is no such runtime in this process.
std::unique_ptr<Backend> makeCudaBackend();

/// For a program that calls the driver and no runtime. Null when there is no driver in this
/// process.
std::unique_ptr<Backend> makeCudaDriverBackend();

} // namespace mneme::record
