// Room artifact (internal): compression of one chunk (zstd, or raw where that is no smaller).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/artifact/snapshot_table.h"

namespace mneme::artifact {

struct StoredChunk {
  Codec codec = Codec::Raw;
  std::vector<std::byte> bytes; ///< empty with Codec::Raw: the raw bytes are the stored bytes
};

/// Largest stored size of a chunk of `rawBytes`.
uint64_t compressBound(uint32_t rawBytes) noexcept;

/// Stays raw where compression saves less than a 32nd, which costs next to nothing to find out for
/// content that looks like noise.
StoredChunk compressChunk(std::span<const std::byte> raw, int level);

/// Anything, with a level for small data. Gives the bytes themselves where zstd fails.
std::vector<std::byte> compressBytes(std::span<const std::byte> raw);

/// Decodes into `out`; false when the bytes are damaged or do not give exactly out.size() bytes.
bool decodeChunk(Codec codec, std::span<const std::byte> stored, std::span<std::byte> out) noexcept;

} // namespace mneme::artifact
