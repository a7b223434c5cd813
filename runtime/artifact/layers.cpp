#include "runtime/artifact/layers.h"

#include <algorithm>

#include "runtime/artifact/table_parts.h"

namespace mneme::artifact {
namespace {

/// What a reader follows; more than a writer makes, so that the limit may be raised.
constexpr size_t kMaxReadDepth = 256;
/// 1.3 GB of extents: no region of a real application is that scattered.
constexpr size_t kMaxExtents = 1 << 25;

void append(std::vector<Extent>& extents, const Extent& extent) {
  if (!extents.empty()) {
    Extent& last = extents.back();
    const bool continues = last.refs && extent.refs
                               ? last.file == extent.file && last.refs + last.count == extent.refs
                               : !last.refs && !extent.refs;
    if (continues) {
      last.count += extent.count;
      return;
    }
  }
  extents.push_back(extent);
}

/// Appends the part [first, first + count) of `base`; `at` is the extent it begins in or before.
void appendPart(std::vector<Extent>& extents, const std::vector<Extent>& base, size_t& at,
                uint64_t first, uint64_t count) {
  while (count > 0) {
    while (base[at].first + base[at].count <= first)
      ++at;
    const uint64_t skipped = first - base[at].first;
    const uint64_t taken = std::min(count, base[at].count - skipped);
    append(extents,
           {first, taken, base[at].refs ? base[at].refs + skipped : nullptr, base[at].file});
    first += taken;
    count -= taken;
  }
}

std::vector<Extent> overlay(const Layer& layer, const TableRegion& region,
                            const std::vector<Extent>& base) {
  std::vector<Extent> extents;
  extents.reserve(base.size() + 2 * region.runs.size());
  uint64_t chunk = 0;
  size_t at = 0;
  for (const ChunkRun& run : region.runs) {
    if (run.kind == RunKind::Base)
      appendPart(extents, base, at, chunk, run.count);
    else if (run.kind == RunKind::Zero)
      append(extents, {chunk, run.count, nullptr, nullptr});
    else
      append(extents, {chunk, run.count, &layer.table.refs[run.firstRef],
                       run.file == 0 ? &layer.name : &layer.table.references[run.file - 1]});
    chunk += run.count;
    if (extents.size() > kMaxExtents)
      corrupt(layer.name, "a region is in more pieces than any real one");
  }
  return extents;
}

} // namespace

std::shared_ptr<const Layer> LayerLoader::load(const std::string& name) {
  if (const auto found = loaded_.find(name); found != loaded_.end())
    return found->second;
  return load(name, openSnapshotFile(directory_ / name));
}

std::shared_ptr<const Layer> LayerLoader::load(const std::string& name, const SnapshotFile& file) {
  const std::string path = (directory_ / name).string();
  if (loading_.size() >= kMaxReadDepth)
    corrupt(path, "too many snapshots are based on one another");
  if (!loading_.insert(name).second)
    corrupt(path, "it is based on itself, over other snapshots or directly");
  const auto layer = std::make_shared<Layer>();
  layer->name = name;
  layer->table = readTable(file, path);
  for (size_t index = 0; index < layer->table.regions.size(); ++index) {
    const TableRegion& region = layer->table.regions[index];
    std::shared_ptr<const Layer>& base = layer->bases.emplace_back();
    if (region.baseFile == 0)
      continue;
    base = load(layer->table.references[region.baseFile - 1]);
    const auto& candidates = base->table.regions;
    if (region.baseRegion >= candidates.size() ||
        candidates[region.baseRegion].region.sizeBytes != region.region.sizeBytes)
      corrupt(path, "region " + std::to_string(index) + " is based on region " +
                        std::to_string(region.baseRegion) + " of '" + base->name +
                        "', which has another size or does not exist");
  }
  loading_.erase(name);
  loaded_[name] = layer;
  return layer;
}

uint32_t depthOf(const Layer& layer, size_t region) {
  uint32_t depth = 0;
  for (const Layer* at = &layer; at->bases[region]; ++depth) {
    const Layer* next = at->bases[region].get();
    region = at->table.regions[region].baseRegion;
    at = next;
  }
  return depth;
}

std::vector<Extent> resolve(const Layer& layer, size_t region) {
  std::vector<std::pair<const Layer*, size_t>> chain{{&layer, region}};
  while (const Layer* base = chain.back().first->bases[chain.back().second].get())
    chain.emplace_back(base, chain.back().first->table.regions[chain.back().second].baseRegion);
  std::vector<Extent> extents;
  for (; !chain.empty(); chain.pop_back())
    extents = overlay(*chain.back().first, chain.back().first->table.regions[chain.back().second],
                      extents);
  return extents;
}

} // namespace mneme::artifact
