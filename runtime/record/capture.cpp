#include "runtime/record/capture.h"

#include <algorithm>
#include <utility>

namespace mneme::record {
namespace {

Hash128 hashOfZeros(uint64_t sizeBytes) {
  static const std::vector<std::byte>& zeros = *new std::vector<std::byte>(artifact::kChunkBytes);
  static const Hash128 ofWholeChunk = hash128(zeros);
  return sizeBytes == artifact::kChunkBytes ? ofWholeChunk
                                            : hash128(std::span(zeros).first(sizeBytes));
}

} // namespace

artifact::RegionDraft Capture::takeRegion(const artifact::Region& region) {
  artifact::RegionDraft draft;
  draft.region = region;
  const uint64_t chunkBytes = artifact::kChunkBytes;
  std::vector<Hash128> hashes((region.sizeBytes + chunkBytes - 1) / chunkBytes);
  backend_.hashPages(region.address, region.sizeBytes, chunkBytes, hashes);
  draft.chunks.resize(hashes.size());
  for (size_t index = 0; index < hashes.size(); ++index) {
    artifact::ChunkDraft& chunk = draft.chunks[index];
    const uint64_t offset = index * chunkBytes;
    chunk.index = index;
    chunk.hash = hashes[index];
    chunk.rawBytes = static_cast<uint32_t>(std::min(chunkBytes, region.sizeBytes - offset));
    chunk.isZero = chunk.hash == hashOfZeros(chunk.rawBytes);
    if (chunk.isZero || copied_.contains(chunk.hash) || writer_.hasChunk(chunk.hash))
      continue;
    const auto copy = std::make_shared<std::vector<std::byte>>(chunk.rawBytes);
    backend_.copyToHost(copy->data(), region.address + offset, chunk.rawBytes);
    chunk.bytes = *copy;
    storage_.push_back({copy, *copy});
    copied_.insert(chunk.hash);
  }
  return draft;
}

artifact::SnapshotDraft Capture::take(const std::vector<artifact::Region>& regions) {
  artifact::SnapshotDraft draft;
  draft.regions.reserve(regions.size());
  for (const artifact::Region& region : regions)
    draft.regions.push_back(takeRegion(region));
  draft.storage = std::exchange(storage_, {});
  return draft;
}

} // namespace mneme::record
