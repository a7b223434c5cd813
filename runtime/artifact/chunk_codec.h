// Room artifact (internal): compression of one chunk (zstd, or raw where that is no smaller).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/artifact/snapshot_format.h"

namespace mneme::artifact {

struct StoredChunk {
  Codec codec = Codec::Raw;
  std::vector<std::byte> bytes; ///< empty with Codec::Raw: the raw bytes are the stored bytes
};

/// Largest stored size of a chunk of `rawBytes`.
uint64_t compressBound(uint32_t rawBytes) noexcept;

StoredChunk compressChunk(std::span<const std::byte> raw, int level);

/// Decodes into `out`; false when the bytes are damaged or do not give exactly out.size() bytes.
bool decodeChunk(Codec codec, std::span<const std::byte> stored, std::span<std::byte> out) noexcept;

} // namespace mneme::artifact
