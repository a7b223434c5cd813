#include "runtime/core/artifact/ledger.h"

#include <algorithm>
#include <utility>

#include "runtime/core/base/error.h"

namespace mneme::artifact {
namespace {

/// \throws Error{Internal} unless chunks are in order, have the right sizes and, without a base,
/// are complete.
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

/// Calls visit(index, hash) for every chunk of a written region, in order. The hash is null for a
/// chunk of zeros.
template <typename Visit> void visitChunks(const LayerRegion& region, const Visit& visit) {
  for (const Extent& extent : resolve(region))
    for (uint64_t index = 0; index < extent.count; ++index)
      visit(extent.first + index, extent.refs ? &extent.refs[index].hash : nullptr);
}

/// Returns all chunks of a region: those in `given`, and the base's for the rest.
std::vector<ChunkDraft> expand(const LayerRegion& base, std::span<const ChunkDraft> given) {
  const uint64_t sizeBytes = base.table().region.sizeBytes;
  std::vector<ChunkDraft> chunks;
  chunks.reserve(chunkCount(sizeBytes));
  visitChunks(base, [&](uint64_t index, const Hash128* hash) {
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

/// Returns those of all chunks of a region that differ from the base's.
std::vector<ChunkDraft> differing(std::span<const ChunkDraft> all, const LayerRegion& base) {
  std::vector<ChunkDraft> chunks;
  visitChunks(base, [&](uint64_t index, const Hash128* hash) {
    const ChunkDraft& chunk = all[index];
    if (chunk.isZero ? hash != nullptr : !hash || *hash != chunk.hash)
      chunks.push_back(chunk);
  });
  return chunks;
}

/// Changes a plan without a base to use this one, if at most half of the chunks differ from it.
void planAgainst(RegionPlan& plan, RegionChain base) {
  std::vector<ChunkDraft> changed = differing(plan.chunks, *base);
  if (changed.size() > plan.chunks.size() / 2)
    return;
  plan.base = std::move(base);
  plan.owned = std::move(changed);
  plan.chunks = plan.owned;
}

/// Returns the region with the same address and size; null if there is none.
RegionChain withSamePlace(const Region& region, const std::vector<RegionChain>& all) {
  for (const RegionChain& one : all)
    if (const Region& other = one->table().region;
        other.address == region.address && other.sizeBytes == region.sizeBytes)
      return one;
  return nullptr;
}

} // namespace

void makeWhole(RegionPlan& plan) {
  if (!plan.base)
    return;
  plan.owned = expand(*plan.base, plan.chunks);
  plan.chunks = plan.owned;
  plan.base = nullptr;
}

void lower(RegionPlan& plan) {
  if (!plan.base || !plan.base->base)
    return;
  RegionChain root = rootOf(plan.base);
  makeWhole(plan);
  planAgainst(plan, std::move(root));
}

void Ledger::add(uint64_t snapshot, std::vector<RegionChain> regions) {
  if (snapshot != 0)
    snapshots_[snapshot] = std::move(regions);
}

void Ledger::settle(uint64_t snapshot) {
  const auto found = snapshots_.find(snapshot);
  if (found == snapshots_.end())
    return;
  for (size_t region = 0; region < found->second.size(); ++region) {
    if (!found->second[region])
      continue;
    const uint64_t address = found->second[region]->table().region.address;
    const auto [latest, isNew] = latest_.try_emplace(address, snapshot, region);
    if (isNew || latest->second.first == snapshot)
      continue;
    const auto [before, index] = std::exchange(latest->second, {snapshot, region});
    const auto old = snapshots_.find(before);
    if (old == snapshots_.end())
      continue;
    old->second[index] = nullptr; // no later draft can be based on it
    if (std::none_of(old->second.begin(), old->second.end(),
                     [](const RegionChain& one) { return one != nullptr; }))
      snapshots_.erase(old);
  }
}

size_t Ledger::size() const noexcept {
  size_t count = 0;
  for (const auto& [id, regions] : snapshots_)
    count += static_cast<size_t>(std::count_if(
        regions.begin(), regions.end(), [](const RegionChain& one) { return one != nullptr; }));
  return count;
}

bool Ledger::needsGone(const LayerRegion& region) const {
  if (gone_.empty())
    return false;
  std::set<std::string> names;
  addTables(names, region);
  addContent(names, resolve(region));
  return std::any_of(names.begin(), names.end(),
                     [this](const std::string& name) { return gone_.contains(name); });
}

RegionPlan Ledger::plan(const RegionDraft& draft, const std::vector<RegionChain>& similar,
                        bool isWhole) const {
  checkChunks(draft);
  RegionPlan plan{draft.region, nullptr, draft.chunks, {}};
  if (!draft.base) {
    if (const RegionChain like = isWhole ? nullptr : withSamePlace(draft.region, similar);
        like && like->depth < kMaxDepth)
      planAgainst(plan, like);
    return plan;
  }
  const auto found = snapshots_.find(draft.base->snapshot);
  if (found == snapshots_.end())
    throw Error(ErrorCode::NotFound, "it is based on a lost recording");
  plan.base =
      draft.base->region < found->second.size() ? found->second[draft.base->region] : nullptr;
  if (!plan.base)
    throw Error(ErrorCode::Internal, "it is not based on the latest snapshot of its memory");
  if (plan.base->table().region.sizeBytes != draft.region.sizeBytes)
    throw Error(ErrorCode::Internal, "it is based on a region of another size");
  if (needsGone(*plan.base))
    throw Error(ErrorCode::NotFound, "it is based on a recording that was replaced");
  const bool isComplete = draft.chunks.size() == chunkCount(draft.region.sizeBytes);
  if (isWhole || isComplete)
    makeWhole(plan);
  else if (plan.base->depth >= kMaxDepth)
    lower(plan);
  return plan;
}

bool hasContent(const RegionPlan& plan, const LayerRegion& region) {
  if (!plan.base)
    return differing(plan.chunks, region).empty();
  return differing(expand(*plan.base, plan.chunks), region).empty();
}

} // namespace mneme::artifact
