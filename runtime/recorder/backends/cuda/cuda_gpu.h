// Room recorder: NVIDIA GPUs as the recorder uses them, bypassing the runtime.
#pragma once

#include "runtime/recorder/backends/gpu/side.h"

namespace mneme::record::gpu {

/// Returns the GPU of the calling thread in its context: the current one, or in place of a green
/// one the primary one, which has its memory. The vendor is null if there is none.
Side currentCudaSide() noexcept;

} // namespace mneme::record::gpu
