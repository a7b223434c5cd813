#include "tests/fuzz/samples.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/core/abi/blob_format.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/core/artifact/table_codec.h"
#include "runtime/core/base/hash.h"
#include "tests/unit/embed/image_maker.h"

namespace mneme::fuzz {
namespace {

using artifact::Codec;
using artifact::SnapshotHeader;

template <typename Value> void append(Bytes& bytes, const Value& value) {
  const auto* raw = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof(value));
}

embed::test::Symbol blobSymbol(uint64_t hash) {
  return {embed::test::symbolFor(embed::kKernelSymbolPrefix, hash),
          embed::test::blobFor("_Z5scalePfi", hash, R"(["helper"])", "sm_90")};
}

/// A blob anywhere in the bytes: its checksum is made right if its sizes still make sense.
void repairBlobAt(Bytes& bytes, size_t place) {
  embed::BlobHeader header;
  if (bytes.size() - place < sizeof(header))
    return;
  std::memcpy(&header, bytes.data() + place, sizeof(header));
  const uint64_t room = bytes.size() - place;
  if (header.headerBytes > room || header.metadataBytes > room || header.bitcodeBytes > room ||
      header.headerBytes + header.metadataBytes + header.bitcodeBytes > room)
    return;
  header.checksum = hash64(std::span(bytes).subspan(place + header.headerBytes,
                                                    header.metadataBytes + header.bitcodeBytes));
  std::memcpy(bytes.data() + place, &header, sizeof(header));
}

/// The file of a table over 100 bytes of content.
Bytes fileOf(const artifact::SnapshotTable& table) {
  const Bytes content(100, std::byte{7});
  const Bytes encoded = artifact::encodeTable(table);
  Bytes file;
  append(file, artifact::makeHeader(sizeof(SnapshotHeader) + content.size(), encoded));
  file.insert(file.end(), content.begin(), content.end());
  file.insert(file.end(), encoded.begin(), encoded.end());
  return file;
}

artifact::TableRegion regionOf(uint64_t address, uint64_t size, const char* name) {
  artifact::TableRegion region;
  region.region.address = address;
  region.region.sizeBytes = size;
  region.region.name = name;
  region.region.annotation.tag = "field";
  return region;
}

artifact::ChunkRef storedContent() {
  return {hash128(Bytes(100, std::byte{7})), sizeof(SnapshotHeader), 100, Codec::Raw};
}

} // namespace

Bytes sampleSnapshot() {
  artifact::SnapshotTable table;
  table.regions.push_back(regionOf(0x600000000000, 3 * artifact::kChunkBytes + 100, ""));
  artifact::appendZero(table, 3);
  artifact::appendStored(table, 0, storedContent());
  table.regions.push_back(regionOf(0x700000000000, 100, "counter"));
  artifact::appendStored(table, 0, storedContent());
  table.args = {Bytes(8, std::byte{1}), Bytes(4)};
  return fileOf(table);
}

Bytes sampleDelta() {
  artifact::SnapshotTable table;
  table.references = {kBaseName};
  table.regions.push_back(regionOf(0x600000000000, 3 * artifact::kChunkBytes + 100, ""));
  table.regions.back().baseFile = 1;
  artifact::appendBase(table, 1);
  artifact::appendZero(table, 1);
  artifact::appendBase(table, 1);
  artifact::appendStored(table, 0, storedContent());
  table.regions.push_back(regionOf(0x700000000000, 100, "counter"));
  artifact::appendStored(table, 1, storedContent());
  return fileOf(table);
}

Bytes sampleSnapshotV1() {
  Bytes table;
  append(table, uint32_t{0}); // references
  append(table, uint32_t{1}); // regions
  append(table, uint64_t{0x600000000000});
  append(table, uint64_t{artifact::kChunkBytes + 100});
  table.resize(table.size() + 2 + 4 + 2 + sizeof(double) + 2 + 4); // no name, no annotation
  const auto addChunk = [&table](const Hash128& hash, uint64_t offset, uint32_t size,
                                 artifact::Codec codec) {
    append(table, hash);
    append(table, offset);
    append(table, size);
    append(table, static_cast<uint32_t>(codec) << 30);
  };
  addChunk(artifact::zeroHash(artifact::kChunkBytes), 0, 0, Codec::Zero);
  addChunk(storedContent().hash, sizeof(SnapshotHeader), 100, Codec::Raw);
  append(table, uint32_t{0}); // arguments
  Bytes file;
  append(file, artifact::makeHeader(sizeof(SnapshotHeader) + 100, table, 1));
  file.resize(file.size() + 100, std::byte{7});
  file.insert(file.end(), table.begin(), table.end());
  return file;
}

Bytes sampleRecord() {
  artifact::KernelRecord record;
  record.staticHash = 1;
  record.kernelName = "_Z5scalePfi";
  record.demangledName = "scale(float*, int)";
  record.args = {{"data", "ptr", 8, 8, ArgKind::Pointer},
                 {"n", "i32", 4, 4, ArgKind::Integer, true}};
  record.optionsJson = R"({"fast_math":false})";
  artifact::Instance instance;
  instance.prologue = "DeviceState.prologue.1.2.mneme";
  instance.epilogue = "DeviceState.epilogue.1.2.mneme";
  record.instances[2] = instance;
  const std::string text = record.toJson();
  const auto* raw = reinterpret_cast<const std::byte*>(text.data());
  return {raw, raw + text.size()};
}

Bytes sampleBlob() { return blobSymbol(1).content; }

Bytes sampleImage() {
  const Bytes elf = embed::test::elfWith({blobSymbol(1), blobSymbol(2)});
  return embed::test::fatBinaryWith({{2, elf}});
}

Bytes sampleCode() {
  Bytes text = samplePtx();
  text.resize((text.size() + 8) / 8 * 8);
  return embed::test::fatBinaryWith({{2, embed::test::cubinWith()}, {1, std::move(text)}});
}

Bytes samplePtx() {
  return embed::test::bytesOf(R"(// PTX
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .b8 place[16] = {1, 2};
.extern .const .f32 factor;
.weak .func (.param .b32 r) helper(.param .b64 a) { ret; }
.visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[24], .param .f32 c)
.maxntid 32, 4
{
  .reg .pred %p; { ret; } /* } */
}
)");
}

void repairSnapshot(Bytes& bytes) {
  SnapshotHeader header;
  if (bytes.size() < sizeof(header))
    return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.fileBytes = bytes.size();
  header.tableOffset = std::clamp<uint64_t>(header.tableOffset, sizeof(header), bytes.size());
  header = artifact::makeHeader(header.tableOffset, std::span(bytes).subspan(header.tableOffset),
                                std::max(header.version, 1u));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

void repairRecord(Bytes& bytes) {
  static constexpr char field[] = "\"Checksum\"";
  const auto* begin = reinterpret_cast<const std::byte*>(field);
  const auto place = std::search(bytes.begin(), bytes.end(), begin, begin + sizeof(field) - 1);
  if (place != bytes.end())
    place[1] = std::byte{'X'}; // another name: a record without checksum
}

void repairBlob(Bytes& bytes) { repairBlobAt(bytes, 0); }

void repairNothing(Bytes&) {}

void repairImage(Bytes& bytes) {
  const auto* magic = reinterpret_cast<const std::byte*>(embed::kBlobMagic);
  for (auto place = bytes.begin();; ++place) {
    place = std::search(place, bytes.end(), magic, magic + sizeof(embed::kBlobMagic));
    if (place == bytes.end())
      return;
    repairBlobAt(bytes, static_cast<size_t>(place - bytes.begin()));
  }
}

} // namespace mneme::fuzz
