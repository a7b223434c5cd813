#include "runtime/recorder/capture.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/recorder/slab.h"

namespace mneme::record {
namespace {

using artifact::kChunkBytes;

constexpr size_t kHashesAtOnce = 1024;

Hash128 hashOfZeros(uint64_t sizeBytes) {
  static const std::vector<std::byte>& zeros = *new std::vector<std::byte>(kChunkBytes);
  static const Hash128 ofWholeChunk = hash128(zeros);
  return sizeBytes == kChunkBytes ? ofWholeChunk : hash128(std::span(zeros).first(sizeBytes));
}

size_t chunkCount(uint64_t sizeBytes) { return (sizeBytes + kChunkBytes - 1) / kChunkBytes; }

/// Calls visit(index) where the hashes differ.
template <typename Visit>
void visitDifferences(const std::vector<Hash128>& before, const std::vector<Hash128>& after,
                      const Visit& visit) {
  for (size_t at = 0; at < after.size(); at += kHashesAtOnce) {
    const size_t end = std::min(at + kHashesAtOnce, after.size());
    if (std::memcmp(&before[at], &after[at], (end - at) * sizeof(Hash128)) == 0)
      continue;
    for (size_t index = at; index < end; ++index)
      if (before[index] != after[index])
        visit(index);
  }
}

} // namespace

const CaptureHistory::Known* CaptureHistory::find(const artifact::Region& region) const {
  const auto found = known_.find(region.address);
  return found == known_.end() || found->second.sizeBytes != region.sizeBytes ? nullptr
                                                                              : &found->second;
}

void CaptureHistory::remember(const artifact::Region& region, artifact::DraftBase draft,
                              std::vector<Hash128> hashes) {
  known_[region.address] = {draft, region.sizeBytes, std::move(hashes)};
}

void CaptureHistory::forgetOlderThan(uint64_t oldestSnapshot) {
  std::erase_if(known_,
                [&](const auto& item) { return item.second.draft.snapshot < oldestSnapshot; });
}

void Capture::addChanges(artifact::RegionDraft& draft, const std::vector<Hash128>& hashes) {
  const uint64_t sizeBytes = draft.region.sizeBytes;
  const auto add = [&](size_t index) {
    artifact::ChunkDraft chunk;
    chunk.index = index;
    chunk.hash = hashes[index];
    chunk.rawBytes = static_cast<uint32_t>(std::min(kChunkBytes, sizeBytes - index * kChunkBytes));
    chunk.isZero = chunk.hash == hashOfZeros(chunk.rawBytes);
    draft.chunks.push_back(chunk);
  };
  const CaptureHistory::Known* before = history_.find(draft.region);
  if (before && !writer_.isLost(before->draft.snapshot)) {
    draft.base = before->draft;
    visitDifferences(before->hashes, hashes, add);
    return;
  }
  draft.chunks.reserve(hashes.size());
  for (size_t index = 0; index < hashes.size(); ++index)
    add(index);
}

/// Returns the chunks whose content is not stored yet.
std::vector<Capture::Wanted> Capture::chooseContent(const artifact::SnapshotDraft& draft) {
  std::vector<Wanted> wanted;
  std::vector<Hash128> hashes;
  for (size_t region = 0; region < draft.regions.size(); ++region)
    for (size_t chunk = 0; chunk < draft.regions[region].chunks.size(); ++chunk)
      if (const artifact::ChunkDraft& one = draft.regions[region].chunks[chunk]; !one.isZero) {
        wanted.push_back({region, chunk});
        hashes.push_back(one.hash);
      }
  const std::vector<bool> isKnown = writer_.hasChunks(hashes);
  copied_.reserve(copied_.size() + hashes.size());
  size_t kept = 0;
  for (size_t index = 0; index < wanted.size(); ++index)
    if (!isKnown[index] && copied_.insert(hashes[index]).second)
      wanted[kept++] = wanted[index];
  wanted.resize(kept);
  return wanted;
}

void Capture::takeContent(artifact::SnapshotDraft& draft, const std::vector<Wanted>& wanted) {
  if (wanted.empty())
    return;
  std::vector<Piece> pieces;
  pieces.reserve(wanted.size());
  uint64_t bytes = 0;
  for (const Wanted& one : wanted) {
    const artifact::RegionDraft& region = draft.regions[one.region];
    const artifact::ChunkDraft& chunk = region.chunks[one.chunk];
    pieces.push_back({&region.region, chunk.index * kChunkBytes, chunk.rawBytes});
    bytes += chunk.rawBytes;
  }
  if (!access_.isBuffered())
    writer_.waitForRoom(bytes);
  checkHostMemory(bytes);
  Content content = access_.take(pieces);
  for (size_t index = 0; index < wanted.size(); ++index)
    draft.regions[wanted[index].region].chunks[wanted[index].chunk].bytes = content.pieces[index];
  draft.storage = std::move(content.storage);
}

/// The given regions, then those found by searching them, and so on.
void Capture::hashAll(artifact::SnapshotDraft& draft, RegionHashes& hashes,
                      std::vector<artifact::Region> regions, Reach* reach) {
  access_.beginSnapshot();
  while (!regions.empty()) {
    const size_t first = draft.regions.size();
    for (artifact::Region& region : regions) {
      hashes.emplace_back(chunkCount(region.sizeBytes));
      draft.regions.emplace_back().region = std::move(region);
    }
    std::vector<HashTask> tasks;
    for (size_t index = first; index < draft.regions.size(); ++index)
      tasks.push_back({&draft.regions[index].region, hashes[index]});
    access_.hash(tasks);
    if (reach && reach->isOpen())
      reach->search(access_, tasks);
    regions = reach ? reach->takeFound() : std::vector<artifact::Region>();
  }
}

artifact::SnapshotDraft Capture::take(const std::vector<artifact::Region>& regions, Reach* reach) {
  artifact::SnapshotDraft draft;
  draft.id = history_.newSnapshot();
  RegionHashes hashes;
  hashAll(draft, hashes, regions, reach);
  for (size_t index = 0; index < hashes.size(); ++index)
    addChanges(draft.regions[index], hashes[index]);
  takeContent(draft, chooseContent(draft));
  access_.endSnapshot();
  for (size_t index = 0; index < hashes.size(); ++index)
    history_.remember(draft.regions[index].region, {draft.id, index}, std::move(hashes[index]));
  return draft;
}

} // namespace mneme::record
