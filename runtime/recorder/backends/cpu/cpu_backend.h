// Room recorder: the CPU device, used through mneme's own versions of the vendors' runtimes.
#pragma once

#include "runtime/recorder/record_backend.h"

namespace mneme::record {

/// Returns null if this process does not run on the CPU device.
std::unique_ptr<Backend> makeCpuBackend();

} // namespace mneme::record
