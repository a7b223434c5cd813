// Room recorder: NVIDIA GPUs used through CUDA's shared runtime or through the driver alone.
#pragma once

#include "runtime/recorder/record_backend.h"

namespace mneme::record {

/// Returns null if this process has no such runtime.
std::unique_ptr<Backend> makeCudaBackend();

/// For a program that calls the driver without a runtime. Returns null if this process has no
/// driver and was not started for one of its devices: a script may begin to record before it opens
/// the driver.
std::unique_ptr<Backend> makeCudaDriverBackend();

} // namespace mneme::record
