#include "tests/fuzz/samples.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/artifact/recording.h"
#include "runtime/artifact/snapshot_format.h"
#include "runtime/base/hash.h"
#include "runtime/embed/blob_format.h"
#include "tests/unit/embed/image_maker.h"

namespace mneme::fuzz {
namespace {

using artifact::ChunkRef;
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

} // namespace

Bytes sampleSnapshot() {
  artifact::SnapshotTable table;
  Bytes content;
  const auto addRegion = [&](uint64_t address, uint64_t size, const char* name) {
    artifact::Region region;
    region.address = address;
    region.sizeBytes = size;
    region.name = name;
    region.annotation.tag = "field";
    table.firstChunk.push_back(table.chunks.size());
    table.regions.push_back(region);
  };
  addRegion(0x600000000000, 3 * artifact::kChunkBytes + 100, "");
  for (const uint32_t size : {65536u, 65536u, 65536u, 100u})
    table.chunks.push_back({artifact::zeroHash(size), 0, 0, size, 0, Codec::Zero});
  addRegion(0x700000000000, 100, "counter");
  const Bytes raw(100, std::byte{7});
  table.chunks.push_back({hash128(raw), sizeof(SnapshotHeader), 100, 100, 0, Codec::Raw});
  content.insert(content.end(), raw.begin(), raw.end());
  table.args = {Bytes(8, std::byte{1}), Bytes(4)};
  const Bytes encoded = artifact::encodeTable(table);
  Bytes file;
  append(file, artifact::makeHeader(sizeof(SnapshotHeader) + content.size(), encoded));
  file.insert(file.end(), content.begin(), content.end());
  file.insert(file.end(), encoded.begin(), encoded.end());
  return file;
}

Bytes sampleRecord() {
  artifact::KernelRecord record;
  record.staticHash = 1;
  record.kernelName = "_Z5scalePfi";
  record.demangledName = "scale(float*, int)";
  record.args = {{"data", "ptr", "pointer", 8, false}, {"n", "i32", "integer", 4, true}};
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

void repairSnapshot(Bytes& bytes) {
  SnapshotHeader header;
  if (bytes.size() < sizeof(header))
    return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.fileBytes = bytes.size();
  header.tableOffset = std::clamp<uint64_t>(header.tableOffset, sizeof(header), bytes.size());
  header = artifact::makeHeader(header.tableOffset, std::span(bytes).subspan(header.tableOffset));
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
