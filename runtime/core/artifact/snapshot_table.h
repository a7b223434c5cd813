// Room core/artifact (internal): the table of a snapshot file, and the checks that every table
// passes before it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/artifact/snapshot_format.h"

namespace mneme::artifact {

enum class Codec : uint8_t { Zero = 0, Raw = 1, Zstd = 2 };

/// Where the content of one stored chunk is.
struct ChunkRef {
  Hash128 hash;        ///< of the raw bytes
  uint64_t offset = 0; ///< in its file
  uint32_t storedBytes = 0;
  Codec codec = Codec::Raw; ///< Raw or Zstd
};

enum class RunKind : uint8_t {
  Zero = 0,   ///< all bytes are zero
  Base = 1,   ///< as in the region's base
  Stored = 2, ///< in this file or a referenced one
};

/// Consecutive chunks of a region.
struct ChunkRun {
  RunKind kind = RunKind::Zero;
  uint32_t file = 0; ///< Stored: 0: this file; n: references[n - 1]
  uint64_t count = 0;
  uint64_t firstRef = 0; ///< Stored: index into SnapshotTable::refs
};

struct TableRegion {
  Region region;
  uint32_t baseFile = 0;      ///< 0: no base; n: references[n - 1]
  uint32_t baseRegion = 0;    ///< index of a region of the same size in that file
  std::vector<ChunkRun> runs; ///< all chunks of the region, in order
};

/// Encoded (version 2) as: u64 description bytes, u64 description bytes in the file (zstd where
/// smaller), u64 number of hashes; the description; the hashes of all stored chunks. The
/// description holds references, regions with base and runs, arguments, and annotated
/// parts of regions if there are any: "MNEME_REGION_V1", u64 number of regions, of each its u64
/// address and u64 number of parts, of each part u64 offset, u64 size and the annotation. A run is
/// varint(count * 4 + kind); a stored run continues with varint(file), zigzag varint(offset - end
/// of the last chunk stored in that file) and per chunk varint(stored size, 0 for raw); the chunks
/// of a run are contiguous.
struct SnapshotTable {
  std::vector<std::string> references;
  std::vector<TableRegion> regions;
  std::vector<ChunkRef> refs; ///< of all stored runs, in order
  std::vector<std::vector<std::byte>> args;
};

/// Adds chunks to the end of the last region, extending its last run if they continue it.
void appendZero(SnapshotTable& table, uint64_t count);
void appendBase(SnapshotTable& table, uint64_t count);
void appendStored(SnapshotTable& table, uint32_t file, const ChunkRef& ref);

std::vector<std::byte> encodeTable(const SnapshotTable& table);
/// Decodes and checks a table of any version: sizes, overlapping regions, reference names, runs,
/// chunk places. Whether a base fits is checked when it is opened.
/// \throws Error{ArtifactCorrupt} naming `path` and the entry.
SnapshotTable decodeTable(std::span<const std::byte> bytes, const SnapshotHeader& header,
                          const std::string& path);

} // namespace mneme::artifact
