// Room device/hip: the bulk operations' kernels for the GPU at hand, compiled from bitcode when
// they are first needed; stored ones are taken from the cache.
#pragma once

#include "runtime/device/gpu/bulk_code.h"

namespace mneme::device::hip {

/// There has to be a HIP runtime. Code objects stay in memory until the process ends, as HIP may go
/// on reading them.
const gpu::BulkCode& bulkCode();

} // namespace mneme::device::hip
