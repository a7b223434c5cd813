// Room record: AMD GPUs as the recorder uses them.
#pragma once

#include "runtime/record/backends/gpu/side.h"

namespace mneme::record::gpu {

/// The GPU of the calling thread. Vendor null when there is none.
Side currentHipSide() noexcept;

} // namespace mneme::record::gpu
