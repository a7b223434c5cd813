#include "runtime/artifact/ledger.h"

#include <algorithm>
#include <utility>

#include "runtime/base/error.h"

namespace mneme::artifact {
namespace {

void checkChunks(const RegionDraft& draft) {
  const uint64_t count = chunkCount(draft.region.sizeBytes);
  if (!draft.base && draft.chunks.size() != count)
    throw Error(ErrorCode::Internal, "a captured region has the wrong number of bytes");
  for (size_t at = 0; at < draft.chunks.size(); ++at) {
    const ChunkDraft& chunk = draft.chunks[at];
    if (chunk.index >= count || (at > 0 && draft.chunks[at - 1].index >= chunk.index))
      throw Error(ErrorCode::Internal, "the chunks of a captured region are not in order");
    if (chunk.rawBytes != chunkSize(draft.region.sizeBytes, chunk.index))
      throw Error(ErrorCode::Internal, "a captured region has the wrong number of bytes");
  }
}

/// Calls visit(chunk, stored hash or null for zeros) for every chunk of a region, in order.
template <typename Visit> void visitChunks(const Layer& layer, size_t region, const Visit& visit) {
  for (const Extent& extent : resolve(layer, region))
    for (uint64_t index = 0; index < extent.count; ++index)
      visit(extent.first + index, extent.refs ? &extent.refs[index].hash : nullptr);
}

/// All chunks: those given over those of the base.
std::vector<ChunkDraft> expand(const Layer& base, size_t region, uint64_t sizeBytes,
                               std::span<const ChunkDraft> given) {
  std::vector<ChunkDraft> chunks;
  chunks.reserve(chunkCount(sizeBytes));
  visitChunks(base, region, [&](uint64_t index, const Hash128* hash) {
    if (!given.empty() && given.front().index == index) {
      chunks.push_back(given.front());
      given = given.subspan(1);
      return;
    }
    const uint32_t rawBytes = chunkSize(sizeBytes, index);
    chunks.push_back({index, hash ? *hash : zeroHash(rawBytes), rawBytes, !hash, {}});
  });
  return chunks;
}

/// Returns the chunks that differ from a region.
std::vector<ChunkDraft> differing(std::span<const ChunkDraft> all, const Layer& base,
                                  size_t region) {
  std::vector<ChunkDraft> chunks;
  visitChunks(base, region, [&](uint64_t index, const Hash128* hash) {
    const ChunkDraft& chunk = all[index];
    if (chunk.isZero ? hash != nullptr : !hash || *hash != chunk.hash)
      chunks.push_back(chunk);
  });
  return chunks;
}

/// The lowest region that `region` is based on over others.
std::pair<std::shared_ptr<const Layer>, uint32_t> rootOf(std::shared_ptr<const Layer> layer,
                                                         uint32_t region) {
  while (layer->bases[region]) {
    const uint32_t next = layer->table.regions[region].baseRegion;
    layer = layer->bases[region];
    region = next;
  }
  return {std::move(layer), region};
}

/// Uses a base only where it saves more than half of the entries.
void planAgainst(RegionPlan& plan, std::shared_ptr<const Layer> base, uint32_t region) {
  std::vector<ChunkDraft> changed = differing(plan.chunks, *base, region);
  if (changed.size() > plan.chunks.size() / 2)
    return;
  plan.base = std::move(base);
  plan.baseRegion = region;
  plan.owned = std::move(changed);
  plan.chunks = plan.owned;
}

std::optional<uint32_t> twinOf(const Region& region, const Layer& layer) {
  const auto& all = layer.table.regions;
  for (size_t index = 0; index < all.size(); ++index)
    if (all[index].region.address == region.address &&
        all[index].region.sizeBytes == region.sizeBytes)
      return static_cast<uint32_t>(index);
  return std::nullopt;
}

} // namespace

void Ledger::add(uint64_t snapshot, std::shared_ptr<const Layer> layer) {
  if (snapshot != 0)
    layers_[snapshot] = std::move(layer);
}

RegionPlan Ledger::plan(const RegionDraft& draft, const std::shared_ptr<const Layer>& similar,
                        bool isWhole) const {
  checkChunks(draft);
  RegionPlan plan{draft.region, nullptr, 0, draft.chunks, {}};
  if (!draft.base) {
    const auto twin = similar && !isWhole ? twinOf(draft.region, *similar) : std::nullopt;
    if (twin && depthOf(*similar, *twin) < kMaxDepth)
      planAgainst(plan, similar, *twin);
    return plan;
  }
  const auto found = layers_.find(draft.base->snapshot);
  if (found == layers_.end())
    throw Error(ErrorCode::NotFound, "it is based on a lost recording");
  const std::shared_ptr<const Layer>& base = found->second;
  const auto region = static_cast<uint32_t>(draft.base->region);
  if (draft.base->region >= base->table.regions.size() ||
      base->table.regions[region].region.sizeBytes != draft.region.sizeBytes)
    throw Error(ErrorCode::Internal, "it is based on a region of another size");
  const bool isComplete = draft.chunks.size() == chunkCount(draft.region.sizeBytes);
  if (!isWhole && !isComplete && depthOf(*base, region) < kMaxDepth) {
    plan.base = base;
    plan.baseRegion = region;
    return plan;
  }
  plan.owned = expand(*base, region, draft.region.sizeBytes, draft.chunks);
  plan.chunks = plan.owned;
  if (!isWhole && !isComplete) {
    auto [root, rootRegion] = rootOf(base, region);
    planAgainst(plan, std::move(root), rootRegion);
  }
  return plan;
}

bool hasContent(const RegionPlan& plan, const Layer& layer, size_t region) {
  if (!plan.base)
    return differing(plan.chunks, layer, region).empty();
  return differing(expand(*plan.base, plan.baseRegion, plan.region.sizeBytes, plan.chunks), layer,
                   region)
      .empty();
}

} // namespace mneme::artifact
