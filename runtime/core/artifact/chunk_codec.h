// Room core/artifact (internal): compression of one chunk (zstd, or raw where that is no smaller).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mneme::artifact {

enum class Codec : uint8_t { Zero = 0, Raw = 1, Zstd = 2 };

struct StoredChunk {
  Codec codec = Codec::Raw;
  std::vector<std::byte> bytes; ///< empty with Codec::Raw: the raw bytes are the stored bytes
};

/// Returns the largest possible stored size of a chunk of `rawBytes`.
uint64_t compressBound(uint32_t rawBytes) noexcept;

/// Compresses a chunk, but keeps it raw if that saves less than 1/32. For content that looks like
/// noise this check costs almost nothing.
StoredChunk compressChunk(std::span<const std::byte> raw, int level);

/// Compresses any bytes, at a level for small data. Returns them unchanged if zstd fails.
std::vector<std::byte> compressBytes(std::span<const std::byte> raw);

/// Decodes into `out`. Returns false if the bytes are damaged or do not give exactly out.size()
/// bytes.
bool decodeChunk(Codec codec, std::span<const std::byte> stored, std::span<std::byte> out) noexcept;

} // namespace mneme::artifact
