// Room core/artifact (internal): the header of a snapshot file, and the arithmetic of chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/core/artifact/recording.h"

namespace mneme::artifact {

inline constexpr char kSnapshotMagic[8] = {'M', 'N', 'E', 'M', 'E', 'S', 'N', 'P'};

struct SnapshotHeader {
  char magic[8];
  uint32_t version;
  uint32_t headerBytes;
  uint64_t chunkBytes;
  uint64_t tableOffset;
  uint64_t tableBytes;
  uint64_t tableChecksum; ///< XXH3_64 of the table
  uint64_t fileBytes;
  uint64_t headerChecksum; ///< XXH3_64 of the bytes before this field
};
static_assert(sizeof(SnapshotHeader) == 64);

/// \throws Error{ArtifactCorrupt}
[[noreturn]] void corrupt(const std::string& path, const std::string& what);

uint64_t chunkCount(uint64_t regionBytes) noexcept;
/// Raw size of chunk `index` of a region.
uint32_t chunkSize(uint64_t regionBytes, uint64_t index) noexcept;
/// Hash of `bytes` zero bytes, at most kChunkBytes.
Hash128 zeroHash(uint32_t bytes) noexcept;

SnapshotHeader makeHeader(uint64_t tableOffset, std::span<const std::byte> table,
                          uint32_t version = kFormatVersion);
/// Checks magic, version, checksum and that every offset lies inside a file of `fileBytes`.
/// \throws Error{ArtifactCorrupt} naming `path` and what is wrong.
void checkHeader(const SnapshotHeader& header, uint64_t fileBytes, const std::string& path);

} // namespace mneme::artifact
