// Room devices/cuda: the bulk operations as PTX, which the driver compiles when it loads them.
#pragma once

#include "runtime/devices/gpu/gpu_bulk_code.h"

namespace mneme::device::cuda {

/// Requires a driver.
const gpu::BulkCode& bulkCode();

} // namespace mneme::device::cuda
