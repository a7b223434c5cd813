#include "runtime/artifact/snapshot_format.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "runtime/artifact/byte_stream.h"
#include "runtime/artifact/chunk_codec.h"
#include "runtime/artifact/names.h"
#include "runtime/base/error.h"

namespace mneme::artifact {
namespace {

constexpr uint64_t kEncodedChunkBytes = 32;

[[noreturn]] void corrupt(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::ArtifactCorrupt, "'" + path + "' is damaged: " + what);
}

uint64_t headerChecksum(const SnapshotHeader& header) {
  return hash64(
      std::as_bytes(std::span(&header, 1)).first(offsetof(SnapshotHeader, headerChecksum)));
}

void putRegion(ByteWriter& writer, const Region& region) {
  writer.put(region.address);
  writer.put(region.sizeBytes);
  writer.put(static_cast<uint8_t>(region.kind));
  writer.put(static_cast<uint8_t>(region.isConstant));
  writer.putString(region.name);
  const Annotation& annotation = region.annotation;
  writer.put(static_cast<uint8_t>(annotation.isSet));
  writer.put(annotation.dataType);
  writer.put(annotation.threshold);
  writer.put(annotation.thresholdKind);
  writer.put(annotation.norm);
  writer.putString(annotation.tag);
}

Region getRegion(ByteReader& reader, const std::string& path, const std::string& label) {
  Region region;
  region.address = reader.get<uint64_t>();
  region.sizeBytes = reader.get<uint64_t>();
  const auto kind = reader.get<uint8_t>();
  region.isConstant = reader.get<uint8_t>() != 0;
  region.name = reader.getString();
  region.annotation.isSet = reader.get<uint8_t>() != 0;
  region.annotation.dataType = reader.get<uint8_t>();
  region.annotation.threshold = reader.get<double>();
  region.annotation.thresholdKind = reader.get<uint8_t>();
  region.annotation.norm = reader.get<uint8_t>();
  region.annotation.tag = reader.getString();
  if (!reader.isGood())
    corrupt(path, "its table ends inside " + label);
  if (kind > static_cast<uint8_t>(RegionKind::Global))
    corrupt(path, label + " has the unknown kind " + std::to_string(kind));
  region.kind = static_cast<RegionKind>(kind);
  if (region.sizeBytes == 0 || region.address + region.sizeBytes < region.address)
    corrupt(path, label + " has an impossible size");
  return region;
}

void putChunk(ByteWriter& writer, const ChunkRef& chunk) {
  writer.put(chunk.hash.low);
  writer.put(chunk.hash.high);
  writer.put(chunk.offset);
  writer.put(chunk.storedBytes);
  writer.put(chunk.file | static_cast<uint32_t>(chunk.codec) << 30);
}

ChunkRef getChunk(ByteReader& reader, uint32_t rawBytes) {
  ChunkRef chunk;
  chunk.hash.low = reader.get<uint64_t>();
  chunk.hash.high = reader.get<uint64_t>();
  chunk.offset = reader.get<uint64_t>();
  chunk.storedBytes = reader.get<uint32_t>();
  const auto packed = reader.get<uint32_t>();
  chunk.file = packed & 0x3fffffffu;
  chunk.codec = static_cast<Codec>(packed >> 30);
  chunk.rawBytes = rawBytes;
  return chunk;
}

/// Says what is wrong with a chunk, or nothing.
const char* chunkDefect(const ChunkRef& chunk, const SnapshotHeader& header, size_t references) {
  if (chunk.codec == Codec::Zero)
    return chunk.hash == zeroHash(chunk.rawBytes) ? nullptr : "is called zero but has another hash";
  if (chunk.codec != Codec::Raw && chunk.codec != Codec::Zstd)
    return "has an unknown codec";
  if (chunk.codec == Codec::Raw && chunk.storedBytes != chunk.rawBytes)
    return "has a stored size that is not its raw size";
  if (chunk.storedBytes == 0 || chunk.storedBytes > compressBound(chunk.rawBytes))
    return "has an impossible stored size";
  if (chunk.file > references)
    return "refers to a file that is not in the list of references";
  if (chunk.offset < sizeof(SnapshotHeader) || chunk.offset + chunk.storedBytes < chunk.offset)
    return "has an impossible offset";
  if (chunk.file == 0 && chunk.offset + chunk.storedBytes > header.tableOffset)
    return "reaches outside the content of the file";
  return nullptr;
}

void checkOverlap(const std::vector<Region>& regions, const std::string& path) {
  std::vector<size_t> order(regions.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return regions[a].address < regions[b].address; });
  for (size_t i = 1; i < order.size(); ++i) {
    const Region& before = regions[order[i - 1]];
    if (before.address + before.sizeBytes > regions[order[i]].address)
      corrupt(path, "regions " + std::to_string(order[i - 1]) + " and " + std::to_string(order[i]) +
                        " overlap");
  }
}

} // namespace

uint64_t chunkCount(uint64_t regionBytes) noexcept {
  return regionBytes / kChunkBytes + (regionBytes % kChunkBytes != 0);
}

uint32_t chunkSize(uint64_t regionBytes, uint64_t index) noexcept {
  return static_cast<uint32_t>(std::min(kChunkBytes, regionBytes - index * kChunkBytes));
}

Hash128 zeroHash(uint32_t bytes) noexcept {
  // Never destroyed: the writer may still work while the program's destructors run.
  static const std::vector<std::byte>& zeros = *new std::vector<std::byte>(kChunkBytes);
  static const Hash128 full = hash128(zeros);
  return bytes == kChunkBytes ? full : hash128(std::span(zeros).first(bytes));
}

SnapshotHeader makeHeader(uint64_t tableOffset, std::span<const std::byte> table) {
  SnapshotHeader header{};
  std::memcpy(header.magic, kSnapshotMagic, sizeof(kSnapshotMagic));
  header.version = kFormatVersion;
  header.headerBytes = sizeof(SnapshotHeader);
  header.chunkBytes = kChunkBytes;
  header.tableOffset = tableOffset;
  header.tableBytes = table.size();
  header.tableChecksum = hash64(table);
  header.fileBytes = tableOffset + table.size();
  header.headerChecksum = headerChecksum(header);
  return header;
}

void checkHeader(const SnapshotHeader& header, uint64_t fileBytes, const std::string& path) {
  if (std::memcmp(header.magic, kSnapshotMagic, sizeof(kSnapshotMagic)) != 0)
    throw Error(ErrorCode::ArtifactCorrupt, "'" + path + "' is not a mneme snapshot");
  if (header.version != kFormatVersion)
    throw Error(ErrorCode::ArtifactCorrupt,
                "'" + path + "' has snapshot format version " + std::to_string(header.version) +
                    "; this mneme reads version " + std::to_string(kFormatVersion));
  if (header.headerChecksum != headerChecksum(header))
    corrupt(path, "the checksum of its header does not match");
  if (header.headerBytes != sizeof(SnapshotHeader) || header.chunkBytes != kChunkBytes)
    corrupt(path, "its header has impossible sizes");
  if (header.fileBytes != fileBytes)
    corrupt(path, "it has " + std::to_string(fileBytes) + " bytes where its header says " +
                      std::to_string(header.fileBytes) + " (truncated?)");
  if (header.tableOffset < sizeof(SnapshotHeader) || header.tableOffset > fileBytes ||
      header.tableBytes != fileBytes - header.tableOffset)
    corrupt(path, "its table lies outside the file");
}

std::vector<std::byte> encodeTable(const SnapshotTable& table) {
  ByteWriter writer;
  writer.bytes().reserve(table.chunks.size() * kEncodedChunkBytes + 256 * table.regions.size());
  writer.put(static_cast<uint32_t>(table.references.size()));
  for (const std::string& name : table.references)
    writer.putString(name);
  writer.put(static_cast<uint32_t>(table.regions.size()));
  for (const Region& region : table.regions)
    putRegion(writer, region);
  for (const ChunkRef& chunk : table.chunks)
    putChunk(writer, chunk);
  writer.put(static_cast<uint32_t>(table.args.size()));
  for (const auto& value : table.args)
    writer.putBytes(value);
  return std::move(writer.bytes());
}

SnapshotTable decodeTable(std::span<const std::byte> bytes, const SnapshotHeader& header,
                          const std::string& path) {
  ByteReader reader(bytes);
  SnapshotTable table;
  const auto referenceCount = reader.get<uint32_t>();
  for (uint32_t index = 0; index < referenceCount && reader.isGood(); ++index) {
    table.references.push_back(reader.getString());
    if (reader.isGood() && !isPlainFileName(table.references.back()))
      corrupt(path, "it refers to the file '" + printable(table.references.back()) +
                        "', which is not a plain name in the same directory");
  }
  const auto regionCount = reader.get<uint32_t>();
  uint64_t chunks = 0;
  for (uint32_t index = 0; index < regionCount && reader.isGood(); ++index) {
    table.regions.push_back(getRegion(reader, path, "region " + std::to_string(index)));
    table.firstChunk.push_back(chunks);
    chunks += chunkCount(table.regions.back().sizeBytes);
    if (chunks > reader.remaining() / kEncodedChunkBytes)
      corrupt(path, "region " + std::to_string(index) + " is larger than the table can describe");
  }
  table.firstChunk.push_back(chunks);
  checkOverlap(table.regions, path);
  table.chunks.reserve(chunks);
  for (size_t index = 0; index < table.regions.size(); ++index) {
    const uint64_t count = table.firstChunk[index + 1] - table.firstChunk[index];
    for (uint64_t chunk = 0; chunk < count; ++chunk) {
      table.chunks.push_back(getChunk(reader, chunkSize(table.regions[index].sizeBytes, chunk)));
      if (const char* defect = chunkDefect(table.chunks.back(), header, table.references.size()))
        corrupt(path, "chunk " + std::to_string(chunk) + " of region " + std::to_string(index) +
                          " " + defect);
    }
  }
  const auto argCount = reader.get<uint32_t>();
  for (uint32_t index = 0; index < argCount && reader.isGood(); ++index)
    table.args.push_back(reader.getBytes());
  if (!reader.isGood() || reader.remaining() != 0)
    corrupt(path, "its table has the wrong length");
  return table;
}

} // namespace mneme::artifact
