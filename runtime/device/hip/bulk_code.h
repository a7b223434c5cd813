// Room device/hip: the bulk operations' kernels for the GPU at hand.
#pragma once

#include <cstddef>
#include <span>

#include "runtime/device/hip/driver.h"

namespace mneme::device::hip {

/// A code object with this kernel, compiled for `device` from our own bitcode; stored ones are
/// taken from the cache. It stays in memory until the process ends, as HIP may go on reading it.
/// Thread-safe. \throws Error{CompileFailed} and as Driver::raise()
std::span<const std::byte> bulkCode(const Driver& driver, int device, BulkModule module,
                                    const char* kernel);

} // namespace mneme::device::hip
