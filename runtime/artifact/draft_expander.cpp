#include "runtime/artifact/draft_expander.h"

#include "runtime/artifact/snapshot_format.h"
#include "runtime/base/error.h"

namespace mneme::artifact {

void DraftExpander::expand(RegionDraft& region) const {
  if (!region.base)
    return;
  const auto base = known_.find(region.base->snapshot);
  if (base == known_.end())
    throw Error(ErrorCode::NotFound, "it is based on a lost recording");
  const uint64_t count = chunkCount(region.region.sizeBytes);
  if (region.base->region >= base->second.size() ||
      base->second[region.base->region].size() != count)
    throw Error(ErrorCode::Internal, "it is based on a region of another size");
  std::vector<ChunkDraft> chunks = base->second[region.base->region];
  for (const ChunkDraft& chunk : region.chunks) {
    if (chunk.index >= count)
      throw Error(ErrorCode::Internal, "a captured chunk lies outside its region");
    chunks[chunk.index] = chunk;
  }
  region.chunks = std::move(chunks);
}

void DraftExpander::expand(SnapshotDraft& draft) {
  for (RegionDraft& region : draft.regions)
    expand(region);
  if (draft.id == 0)
    return;
  std::vector<std::vector<ChunkDraft>>& known = known_[draft.id];
  known.clear();
  for (const RegionDraft& region : draft.regions) {
    known.push_back(region.chunks);
    for (ChunkDraft& chunk : known.back())
      chunk.bytes = {};
  }
}

} // namespace mneme::artifact
