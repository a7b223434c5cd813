// Room record: the CPU device, under whichever vendors' runtimes of our own a process uses there.
#pragma once

#include "runtime/record/backend.h"

namespace mneme::record {

/// Null when this process does not run on the CPU device.
std::unique_ptr<Backend> makeCpuBackend();

} // namespace mneme::record
