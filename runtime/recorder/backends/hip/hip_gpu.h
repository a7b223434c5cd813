// Room recorder: AMD GPUs as the recorder uses them.
#pragma once

#include "runtime/recorder/backends/gpu/side.h"

namespace mneme::record::gpu {

/// Returns the GPU of the calling thread. The vendor is null if there is none.
Side currentHipSide() noexcept;

} // namespace mneme::record::gpu
