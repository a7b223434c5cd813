// Room core/embed: expands compressed members of fat binaries, as in debug builds.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/embed/byte_view.h"

namespace mneme::embed {

/// Expands a Zstandard frame. \throws Error{ArtifactCorrupt} unless it gives exactly `rawBytes`.
std::vector<std::byte> expandZstd(Bytes frame, uint64_t rawBytes);

/// Expands a bare LZ4 block. \throws Error{ArtifactCorrupt} unless it gives exactly `rawBytes`.
std::vector<std::byte> expandLz4(Bytes block, uint64_t rawBytes);

} // namespace mneme::embed
