// Reads the table of a snapshot as version 1 of the format wrote it (table_parts.h).
#include "runtime/core/artifact/table_parts.h"

namespace mneme::artifact {
namespace {

constexpr uint64_t kEncodedChunkBytes = 32;

/// Reads one chunk into the end of the last region; says what is wrong with it, or nothing.
const char* takeChunk(ByteReader& reader, SnapshotTable& table, uint32_t rawBytes,
                      const SnapshotHeader& header) {
  ChunkRef chunk;
  chunk.hash.low = reader.get<uint64_t>();
  chunk.hash.high = reader.get<uint64_t>();
  chunk.offset = reader.get<uint64_t>();
  chunk.storedBytes = reader.get<uint32_t>();
  const auto packed = reader.get<uint32_t>();
  chunk.codec = static_cast<Codec>(packed >> 30);
  if (chunk.codec == Codec::Zero) {
    appendZero(table, 1);
    return chunk.hash == zeroHash(rawBytes) ? nullptr : "is called zero but has another hash";
  }
  const uint32_t file = packed & 0x3fffffffu;
  appendStored(table, file, chunk);
  return chunkDefect(chunk, rawBytes, file, header, table.references.size());
}

} // namespace

SnapshotTable decodeTableV1(std::span<const std::byte> bytes, const SnapshotHeader& header,
                            const std::string& path) {
  ByteReader reader(bytes);
  SnapshotTable table;
  table.references = getReferences(reader, path);
  const auto regionCount = reader.get<uint32_t>();
  std::vector<Region> regions;
  uint64_t chunks = 0;
  for (uint32_t index = 0; index < regionCount && reader.isGood(); ++index) {
    regions.push_back(getRegion(reader, path, "region " + std::to_string(index)));
    chunks += chunkCount(regions.back().sizeBytes);
    if (chunks > reader.remaining() / kEncodedChunkBytes)
      corrupt(path, "region " + std::to_string(index) + " is larger than the table can describe");
  }
  for (size_t index = 0; index < regions.size(); ++index) {
    table.regions.emplace_back().region = regions[index];
    const uint64_t sizeBytes = regions[index].sizeBytes;
    for (uint64_t chunk = 0; chunk < chunkCount(sizeBytes); ++chunk)
      if (const char* defect = takeChunk(reader, table, chunkSize(sizeBytes, chunk), header))
        corrupt(path, "chunk " + std::to_string(chunk) + " of region " + std::to_string(index) +
                          " " + defect);
  }
  checkOverlap(table.regions, path);
  const auto argCount = reader.get<uint32_t>();
  for (uint32_t index = 0; index < argCount && reader.isGood(); ++index)
    table.args.push_back(reader.getBytes());
  if (!reader.isGood() || reader.remaining() != 0)
    corrupt(path, "its table has the wrong length");
  return table;
}

} // namespace mneme::artifact
