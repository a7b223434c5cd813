// Room recorder: calls that make and destroy texture and surface objects, and arrays.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/recorder/served_memory.h"
#include "runtime/recorder/texture_access.h"

namespace mneme::record {

/// Passes on a call that makes an object.
int watchTexture(const uint64_t* handle, bool isSurface, const TextureWords& words,
                 const Next& next);
int watchTextureEnd(uint64_t handle, bool isSurface, const Next& next);
/// Passes on a call that gives a handle for a part of an array: for one of its levels, or for
/// another part.
int watchArrayPart(void* const* part, const void* whole, std::optional<uint32_t> level,
                   const Next& next);
int watchArrayEnd(const void* array, const Next& next);

} // namespace mneme::record
