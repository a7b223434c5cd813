// Room core/artifact (internal): parts that tables of all format versions share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/artifact/byte_stream.h"
#include "runtime/core/artifact/snapshot_table.h"

namespace mneme::artifact {

/// Annotated parts of regions, at the end of a table; nothing where there are none.
void putParts(ByteWriter& writer, const std::vector<TableRegion>& regions);
void getParts(ByteReader& reader, std::vector<TableRegion>& regions, const std::string& path);

void putRegion(ByteWriter& writer, const Region& region);
Region getRegion(ByteReader& reader, const std::string& path, const std::string& label);

std::vector<std::string> getReferences(ByteReader& reader, const std::string& path);

/// Returns what is wrong with a stored chunk; null if nothing is.
const char* chunkDefect(const ChunkRef& chunk, uint32_t rawBytes, uint32_t file,
                        const SnapshotHeader& header, size_t references);

void checkOverlap(const std::vector<TableRegion>& regions, const std::string& path);

/// Decodes the table of a file of version 1, which has one entry per chunk of each region.
SnapshotTable decodeTableV1(std::span<const std::byte> bytes, const SnapshotHeader& header,
                            const std::string& path);

} // namespace mneme::artifact
