// Room record: NVIDIA GPUs as the recorder uses them, past the runtime.
#pragma once

#include "runtime/record/backends/gpu/side.h"

namespace mneme::record::gpu {

/// The GPU of the calling thread, in its primary context, which the runtime owns. Vendor null when
/// there is none, or when the thread works in another context than the primary one.
Side currentCudaSide() noexcept;

} // namespace mneme::record::gpu
