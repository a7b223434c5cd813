// Room recorder: texture and surface objects of NVIDIA's driver, as the recorder reads them.
#pragma once

#include "runtime/recorder/texture_access.h"

namespace mneme::record {

/// Returns null if the process has no driver, or one without these functions. Never destroyed.
const TextureAccess* cudaTextures() noexcept;

} // namespace mneme::record
