// Room device/cuda: the bulk operations as PTX, which the driver compiles when it loads them.
#pragma once

#include "runtime/device/gpu/bulk_code.h"

namespace mneme::device::cuda {

/// There has to be a driver.
const gpu::BulkCode& bulkCode();

} // namespace mneme::device::cuda
