// Room artifact (internal): the layout of a snapshot file as structs, and the checks every table
// passes before anything in it is believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/recording.h"

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

enum class Codec : uint8_t { Zero = 0, Raw = 1, Zstd = 2 };

/// Where the content of one chunk is.
struct ChunkRef {
  Hash128 hash;        ///< of the raw bytes
  uint64_t offset = 0; ///< in its file
  uint32_t storedBytes = 0;
  uint32_t rawBytes = 0;
  uint32_t file = 0; ///< 0: this file; n: references[n - 1]
  Codec codec = Codec::Zero;
};

struct SnapshotTable {
  std::vector<std::string> references;
  std::vector<Region> regions;
  std::vector<uint64_t> firstChunk; ///< per region, index into chunks; one more at the end
  std::vector<ChunkRef> chunks;
  std::vector<std::vector<std::byte>> args;
};

uint64_t chunkCount(uint64_t regionBytes) noexcept;
/// Raw size of chunk `index` of a region.
uint32_t chunkSize(uint64_t regionBytes, uint64_t index) noexcept;
/// Hash of `bytes` zero bytes, at most kChunkBytes.
Hash128 zeroHash(uint32_t bytes) noexcept;

SnapshotHeader makeHeader(uint64_t tableOffset, std::span<const std::byte> table);
/// Checks magic, version, checksum and that every offset lies inside a file of `fileBytes`.
/// \throws Error{ArtifactCorrupt} naming `path` and what is wrong.
void checkHeader(const SnapshotHeader& header, uint64_t fileBytes, const std::string& path);

std::vector<std::byte> encodeTable(const SnapshotTable& table);
/// Decodes and checks a table: sizes, overlapping regions, reference names, chunk places.
/// \throws Error{ArtifactCorrupt} naming `path` and the entry.
SnapshotTable decodeTable(std::span<const std::byte> bytes, const SnapshotHeader& header,
                          const std::string& path);

} // namespace mneme::artifact
