#include "runtime/core/artifact/table_parts.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "runtime/core/artifact/chunk_codec.h"
#include "runtime/core/artifact/names.h"

namespace mneme::artifact {

namespace {

constexpr std::string_view kPartsMark = "MNEME_REGION_V1";

void putFields(ByteWriter& writer, const Annotation& annotation) {
  writer.put(annotation.dataType);
  writer.put(annotation.threshold);
  writer.put(annotation.thresholdKind);
  writer.put(annotation.norm);
  writer.putString(annotation.tag);
}

void getFields(ByteReader& reader, Annotation& annotation) {
  annotation.dataType = reader.get<uint8_t>();
  annotation.threshold = reader.get<double>();
  annotation.thresholdKind = reader.get<uint8_t>();
  annotation.norm = reader.get<uint8_t>();
  annotation.tag = reader.getString();
}

} // namespace

void putParts(ByteWriter& writer, const std::vector<TableRegion>& regions) {
  const auto count = std::count_if(regions.begin(), regions.end(), [](const TableRegion& region) {
    return !region.region.parts.empty();
  });
  if (count == 0)
    return;
  for (const char letter : kPartsMark)
    writer.put(letter);
  writer.put(static_cast<uint64_t>(count));
  for (const TableRegion& region : regions) {
    if (region.region.parts.empty())
      continue;
    writer.put(region.region.address);
    writer.put(static_cast<uint64_t>(region.region.parts.size()));
    for (const AnnotatedPart& part : region.region.parts) {
      writer.put(part.offset);
      writer.put(part.sizeBytes);
      putFields(writer, part.annotation);
    }
  }
}

void getParts(ByteReader& reader, std::vector<TableRegion>& regions, const std::string& path) {
  if (reader.remaining() == 0)
    return;
  for (const char letter : kPartsMark)
    if (reader.get<char>() != letter)
      corrupt(path, "its table has the wrong length");
  const auto count = reader.get<uint64_t>();
  for (uint64_t index = 0; index < count && reader.isGood(); ++index) {
    const auto address = reader.get<uint64_t>();
    const auto owner = std::find_if(regions.begin(), regions.end(), [&](const TableRegion& one) {
      return one.region.address == address;
    });
    if (owner == regions.end())
      corrupt(path, "it annotates a part of a region that it does not have");
    const auto parts = reader.get<uint64_t>();
    uint64_t end = 0;
    for (uint64_t part = 0; part < parts && reader.isGood(); ++part) {
      AnnotatedPart& read = owner->region.parts.emplace_back();
      read.offset = reader.get<uint64_t>();
      read.sizeBytes = reader.get<uint64_t>();
      read.annotation.isSet = true;
      getFields(reader, read.annotation);
      const uint64_t size = owner->region.sizeBytes;
      if (!reader.isGood() || read.sizeBytes == 0 || read.offset < end || read.offset > size ||
          read.sizeBytes > size - read.offset)
        corrupt(path, "it annotates impossible parts of a region");
      end = read.offset + read.sizeBytes;
    }
  }
}

void putRegion(ByteWriter& writer, const Region& region) {
  writer.put(region.address);
  writer.put(region.sizeBytes);
  writer.put(static_cast<uint8_t>(region.kind));
  writer.put(static_cast<uint8_t>(region.isConstant));
  writer.putString(region.name);
  writer.put(static_cast<uint8_t>(region.annotation.isSet));
  putFields(writer, region.annotation);
}

Region getRegion(ByteReader& reader, const std::string& path, const std::string& label) {
  Region region;
  region.address = reader.get<uint64_t>();
  region.sizeBytes = reader.get<uint64_t>();
  const auto kind = reader.get<uint8_t>();
  region.isConstant = reader.get<uint8_t>() != 0;
  region.name = reader.getString();
  region.annotation.isSet = reader.get<uint8_t>() != 0;
  getFields(reader, region.annotation);
  if (!reader.isGood())
    corrupt(path, "its table ends inside " + label);
  if (kind > static_cast<uint8_t>(RegionKind::Global))
    corrupt(path, label + " has the unknown kind " + std::to_string(kind));
  region.kind = static_cast<RegionKind>(kind);
  if (region.sizeBytes == 0 || region.address + region.sizeBytes < region.address)
    corrupt(path, label + " has an impossible size");
  return region;
}

std::vector<std::string> getReferences(ByteReader& reader, const std::string& path) {
  std::vector<std::string> references;
  const auto count = reader.get<uint32_t>();
  for (uint32_t index = 0; index < count && reader.isGood(); ++index) {
    references.push_back(reader.getString());
    if (reader.isGood() && !isPlainFileName(references.back()))
      corrupt(path, "it refers to the file '" + printable(references.back()) +
                        "', which is not a plain name in the same directory");
  }
  return references;
}

const char* chunkDefect(const ChunkRef& chunk, uint32_t rawBytes, uint32_t file,
                        const SnapshotHeader& header, size_t references) {
  if (chunk.codec != Codec::Raw && chunk.codec != Codec::Zstd)
    return "has an unknown codec";
  if (chunk.codec == Codec::Raw && chunk.storedBytes != rawBytes)
    return "has a stored size that is not its raw size";
  if (chunk.storedBytes == 0 || chunk.storedBytes > compressBound(rawBytes))
    return "has an impossible stored size";
  if (file > references)
    return "refers to a file that is not in the list of references";
  if (chunk.offset < sizeof(SnapshotHeader) || chunk.offset + chunk.storedBytes < chunk.offset)
    return "has an impossible offset";
  if (file == 0 && chunk.offset + chunk.storedBytes > header.tableOffset)
    return "reaches outside the content of the file";
  return nullptr;
}

void checkOverlap(const std::vector<TableRegion>& regions, const std::string& path) {
  std::vector<size_t> order(regions.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return regions[a].region.address < regions[b].region.address;
  });
  for (size_t i = 1; i < order.size(); ++i) {
    const Region& before = regions[order[i - 1]].region;
    if (before.address + before.sizeBytes > regions[order[i]].region.address)
      corrupt(path, "regions " + std::to_string(order[i - 1]) + " and " + std::to_string(order[i]) +
                        " overlap");
  }
}

} // namespace mneme::artifact
