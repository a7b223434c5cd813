#include "runtime/core/artifact/needed_files.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace mneme::artifact {
namespace {

/// In a table: a hash and about one byte of description.
constexpr uint64_t kEntryBytes = sizeof(Hash128) + 1;
/// Address, size, tolerance and first run of a region.
constexpr uint64_t kRegionBytes = 48;

uint64_t storedChunks(std::span<const ChunkDraft> chunks) {
  return static_cast<uint64_t>(std::count_if(chunks.begin(), chunks.end(),
                                             [](const ChunkDraft& one) { return !one.isZero; }));
}

/// Chunks a region would list if it were written in full, judged by the lowest it is based on.
uint64_t chunksInFull(const RegionPlan& plan) {
  if (!plan.base)
    return storedChunks(plan.chunks);
  const LayerRegion* root = plan.base.get();
  while (root->base)
    root = root->base.get();
  uint64_t count = 0;
  for (const ChunkRun& run : root->table().runs)
    count += run.kind == RunKind::Stored ? run.count : 0;
  return count;
}

/// Estimates of what opening a planned snapshot costs, in bytes.
struct OpeningCost {
  uint64_t own = kFileCostBytes;    ///< its own table
  uint64_t inFull = kFileCostBytes; ///< the same without any base
  uint64_t bases = 0;               ///< tables it is based on
  size_t files = 0;                 ///< with these tables
  bool isBounded() const { return own + bases <= 2 * inFull && files < kKeptFiles; }
};

uint64_t costOf(const Layer& layer) { return kFileCostBytes + layer.tableBytes; }

OpeningCost openingCost(const std::vector<RegionPlan>& plans) {
  OpeningCost cost;
  std::set<const Layer*> layers;
  for (const RegionPlan& plan : plans) {
    cost.own += kRegionBytes + kEntryBytes * storedChunks(plan.chunks);
    cost.inFull += kRegionBytes + kEntryBytes * chunksInFull(plan);
    for (const LayerRegion* at = plan.base.get(); at; at = at->base.get())
      if (layers.insert(at->layer.get()).second)
        cost.bases += costOf(*at->layer);
  }
  cost.files = layers.size();
  return cost;
}

/// Calls visit(first chunk, refs, count, file) for what a region has as in its base.
template <typename Visit> void visitKept(const RegionPlan& plan, const Visit& visit) {
  if (!plan.base)
    return;
  auto given = plan.chunks.begin();
  for (const Extent& extent : resolve(*plan.base)) {
    const uint64_t end = extent.first + extent.count;
    for (uint64_t first = extent.first; first < end;) {
      while (given != plan.chunks.end() && given->index < first)
        ++given;
      const bool isGiven = given != plan.chunks.end() && given->index == first;
      const uint64_t stop = given == plan.chunks.end() ? end : std::min(end, given->index);
      if (extent.file && !isGiven)
        visit(first, extent.refs + (first - extent.first), stop - first, *extent.file);
      first = isGiven ? first + 1 : stop;
    }
  }
}

/// Bytes of a planned snapshot in every file that holds some of them.
using Holders = std::map<std::string, uint64_t>;

Holders holdersOf(const std::vector<RegionPlan>& plans, const ContentPlaces& places) {
  Holders holders;
  std::unordered_map<uint32_t, uint64_t*> byFile;
  for (const RegionPlan& plan : plans) {
    for (const ChunkDraft& chunk : plan.chunks)
      if (const auto place = chunk.isZero ? std::nullopt : places.find(chunk.hash)) {
        uint64_t*& bytes = byFile[place->file];
        if (!bytes)
          bytes = &holders[places.nameOf(place->file)];
        *bytes += place->storedBytes;
      }
    visitKept(plan, [&](uint64_t, const ChunkRef* refs, uint64_t count, const std::string& file) {
      uint64_t& bytes = holders[file];
      for (uint64_t index = 0; index < count; ++index)
        bytes += refs[index].storedBytes;
    });
  }
  return holders;
}

/// Gives chunks itself that are as in the base, but stored in a file that is not kept.
void giveAgain(RegionPlan& plan, const ContentPlaces& places, StoreAgain& again) {
  std::vector<ChunkDraft> added;
  const uint64_t sizeBytes = plan.region.sizeBytes;
  visitKept(
      plan, [&](uint64_t first, const ChunkRef* refs, uint64_t count, const std::string& file) {
        if (again.kept.contains(file))
          return;
        const uint32_t id = places.fileOf(file);
        for (uint64_t index = 0; index < count; ++index) {
          const ChunkRef& ref = refs[index];
          const uint32_t rawBytes = chunkSize(sizeBytes, first + index);
          added.push_back({first + index, ref.hash, rawBytes, false, {}});
          again.places.tryEmplace(ref.hash, {ref.offset, id, ref.storedBytes, rawBytes, ref.codec});
        }
      });
  if (added.empty())
    return;
  std::vector<ChunkDraft> all;
  all.reserve(plan.chunks.size() + added.size());
  std::merge(plan.chunks.begin(), plan.chunks.end(), added.begin(), added.end(),
             std::back_inserter(all),
             [](const ChunkDraft& a, const ChunkDraft& b) { return a.index < b.index; });
  plan.owned = std::move(all);
  plan.chunks = plan.owned;
}

} // namespace

void boundTables(std::vector<RegionPlan>& plans) {
  if (openingCost(plans).isBounded())
    return;
  for (RegionPlan& plan : plans)
    lower(plan);
  OpeningCost cost = openingCost(plans);
  // Every region is based on one file now, so what a file saves does not depend on others.
  std::map<const Layer*, std::vector<RegionPlan*>> users;
  for (RegionPlan& plan : plans)
    if (plan.base)
      users[plan.base->layer.get()].push_back(&plan);
  std::multimap<double, const Layer*> bySavings; // bytes not written, per byte to be read
  for (const auto& [layer, regions] : users) {
    double saved = 0;
    for (const RegionPlan* plan : regions)
      saved += static_cast<double>(kEntryBytes) * (static_cast<double>(chunksInFull(*plan)) -
                                                   static_cast<double>(storedChunks(plan->chunks)));
    bySavings.emplace(saved / static_cast<double>(costOf(*layer)), layer);
  }
  for (const auto& [saved, layer] : bySavings) {
    if (cost.isBounded())
      return;
    for (RegionPlan* plan : users[layer]) {
      const uint64_t before = storedChunks(plan->chunks);
      makeWhole(*plan);
      cost.own += kEntryBytes * (storedChunks(plan->chunks) - before);
    }
    cost.bases -= costOf(*layer);
    --cost.files;
  }
}

StoreAgain boundContent(std::vector<RegionPlan>& plans, const ContentPlaces& places,
                        const std::string& own) {
  StoreAgain again;
  std::set<std::string> needed{own};
  for (const RegionPlan& plan : plans)
    if (plan.base)
      addTables(needed, *plan.base);
  std::vector<std::pair<uint64_t, std::string>> only; // files with nothing but content
  for (const auto& [name, bytes] : holdersOf(plans, places))
    if (!needed.contains(name))
      only.emplace_back(bytes, name);
  if (needed.size() + only.size() <= kMaxNeededFiles)
    return again;
  std::sort(only.rbegin(), only.rend()); // those that hold most first
  again.isNeeded = true;
  again.kept = std::move(needed);
  for (size_t index = 0; index < only.size() && again.kept.size() < kKeptFiles; ++index)
    again.kept.insert(only[index].second);
  for (RegionPlan& plan : plans)
    giveAgain(plan, places, again);
  return again;
}

} // namespace mneme::artifact
