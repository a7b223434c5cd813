// Room recorder: NVIDIA GPUs as the recorder uses them, bypassing the runtime.
#pragma once

#include "runtime/recorder/backends/gpu/side.h"

namespace mneme::record::gpu {

/// Returns the GPU of the calling thread in its primary context, which the runtime owns. The vendor
/// is null if there is none or if the thread uses a context other than the primary one.
Side currentCudaSide() noexcept;

} // namespace mneme::record::gpu
