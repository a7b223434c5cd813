// Room core/artifact (internal): writes tables of snapshot files, reads them, and checks each
// before it is trusted.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/core/artifact/snapshot_table.h"

namespace mneme::artifact {

/// Encoded (version 2) as: u64 description bytes, u64 description bytes in the file (zstd where
/// smaller), u64 number of hashes; the description; the hashes of all stored chunks. The
/// description holds references, regions with base and runs, arguments, and annotated
/// parts of regions if there are any: "MNEME_REGION_V1", u64 number of regions, of each its u64
/// address and u64 number of parts, of each part u64 offset, u64 size and the annotation. A run is
/// varint(count * 4 + kind); a stored run continues with varint(file), zigzag varint(offset - end
/// of the last chunk stored in that file) and per chunk varint(stored size, 0 for raw); the chunks
/// of a run are contiguous.
std::vector<std::byte> encodeTable(const SnapshotTable& table);
/// Decodes and checks a table of any version: sizes, overlapping regions, reference names, runs,
/// chunk places. Whether a base fits is checked when it is opened.
/// \throws Error{ArtifactCorrupt} naming `path` and the entry.
SnapshotTable decodeTable(std::span<const std::byte> bytes, const SnapshotHeader& header,
                          const std::string& path);

} // namespace mneme::artifact
