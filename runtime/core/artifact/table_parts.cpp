#include "runtime/core/artifact/table_parts.h"

#include <algorithm>
#include <numeric>

#include "runtime/core/artifact/chunk_codec.h"
#include "runtime/core/artifact/names.h"
#include "runtime/core/base/error.h"

namespace mneme::artifact {

void corrupt(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::ArtifactCorrupt, "'" + path + "' is damaged: " + what);
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
