// Room devices/hip: the kernels of the bulk operations for the current GPU. They are compiled from
// bitcode on first use and stored in the cache.
#pragma once

#include "runtime/devices/gpu/gpu_bulk_code.h"

namespace mneme::device::hip {

/// Requires a HIP runtime. Code objects stay in memory until the process ends, because HIP may keep
/// reading them.
const gpu::BulkCode& bulkCode();

} // namespace mneme::device::hip
