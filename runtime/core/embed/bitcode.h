// Room core/embed: the IR in blobs and host programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mneme::embed {

/// \throws Error{ArtifactCorrupt} if `frame` is not a zstd frame of `rawBytes` bytes of content
std::vector<std::byte> decompressBitcode(std::span<const std::byte> frame, uint64_t rawBytes);

} // namespace mneme::embed
