// Room core/artifact (internal): the table of a snapshot file as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/artifact/chunk_codec.h"
#include "runtime/core/artifact/snapshot_format.h"

namespace mneme::artifact {

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

/// table_codec.h has its form in files.
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

} // namespace mneme::artifact
