// Room recorder: calls that make and destroy texture and surface objects, and arrays.
#pragma once

#include <cstdint>

#include "runtime/recorder/served_memory.h"

namespace mneme::record {

/// Passes on a call that makes an object; `array` is what it shows, null for plain memory.
int watchTexture(const uint64_t* handle, bool isSurface, const void* array, const Next& next);
int watchTextureEnd(uint64_t handle, bool isSurface, const Next& next);
int watchArrayEnd(const void* array, const Next& next);

} // namespace mneme::record
