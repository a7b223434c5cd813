#include "runtime/core/artifact/layers.h"

#include <algorithm>
#include <utility>

#include "runtime/core/artifact/table_parts.h"

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

std::vector<Extent> overlay(const LayerRegion& top, const std::vector<Extent>& base) {
  const Layer& layer = *top.layer;
  const TableRegion& region = top.table();
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

RegionChain chainOf(std::shared_ptr<const Layer> layer, uint32_t index, RegionChain base) {
  auto region = std::make_shared<LayerRegion>();
  region->layer = std::move(layer);
  region->index = index;
  region->depth = base ? base->depth + 1 : 0;
  region->base = std::move(base);
  return region;
}

RegionChain rootOf(RegionChain region) {
  while (region->base)
    region = region->base;
  return region;
}

std::shared_ptr<const Layer> LayerLoader::load(const std::string& name) {
  if (const auto found = loaded_.find(name); found != loaded_.end())
    return found->second;
  return load(name, openSnapshotFile(directory_ / name));
}

std::shared_ptr<const Layer> LayerLoader::load(const std::string& name, const SnapshotFile& file) {
  auto layer = std::make_shared<Layer>();
  layer->name = name;
  layer->table = readTable(file, directory_ / name);
  layer->tableBytes = file.header.tableBytes;
  tableBytes_ += layer->tableBytes;
  return loaded_[name] = std::move(layer);
}

/// The layer a region is based on, which has such a region; null where it has no base.
std::shared_ptr<const Layer> LayerLoader::baseOf(const Layer& layer, uint32_t region) {
  const TableRegion& top = layer.table.regions[region];
  if (top.baseFile == 0)
    return nullptr;
  auto base = load(layer.table.references[top.baseFile - 1]);
  const auto& candidates = base->table.regions;
  if (top.baseRegion >= candidates.size() ||
      candidates[top.baseRegion].region.sizeBytes != top.region.sizeBytes)
    corrupt((directory_ / layer.name).string(),
            "region " + std::to_string(region) + " is based on region " +
                std::to_string(top.baseRegion) + " of '" + base->name +
                "', which has another size or does not exist");
  return base;
}

RegionChain LayerLoader::chain(const std::shared_ptr<const Layer>& layer, uint32_t region) {
  std::vector<std::pair<std::shared_ptr<const Layer>, uint32_t>> path;
  RegionChain below;
  for (auto at = std::pair(layer, region); at.first;) {
    if (const auto known = chains_.find({at.first.get(), at.second}); known != chains_.end()) {
      below = known->second;
      break;
    }
    const std::string file = (directory_ / at.first->name).string();
    for (const auto& [above, index] : path)
      if (above == at.first)
        corrupt(file, "it is based on itself, over other snapshots or directly");
    if (path.size() >= kMaxReadDepth)
      corrupt(file, "too many snapshots are based on one another");
    path.push_back(at);
    const uint32_t next = at.first->table.regions[at.second].baseRegion;
    at = {baseOf(*at.first, at.second), next};
  }
  if (below && below->depth + path.size() >= kMaxReadDepth)
    corrupt((directory_ / layer->name).string(), "too many snapshots are based on one another");
  for (; !path.empty(); path.pop_back())
    below = chains_[{path.back().first.get(), path.back().second}] =
        chainOf(path.back().first, path.back().second, std::move(below));
  return below;
}

std::vector<RegionChain> LayerLoader::chains(const std::shared_ptr<const Layer>& layer) {
  std::vector<RegionChain> all;
  for (uint32_t index = 0; index < layer->table.regions.size(); ++index)
    all.push_back(chain(layer, index));
  return all;
}

std::vector<Extent> resolve(const LayerRegion& region) {
  std::vector<const LayerRegion*> chain{&region};
  while (const LayerRegion* base = chain.back()->base.get())
    chain.push_back(base);
  std::vector<Extent> extents;
  for (; !chain.empty(); chain.pop_back())
    extents = overlay(*chain.back(), extents);
  return extents;
}

void addTables(std::set<std::string>& names, const LayerRegion& region) {
  for (const LayerRegion* at = &region; at; at = at->base.get())
    names.insert(at->layer->name);
}

void addContent(std::set<std::string>& names, const std::vector<Extent>& extents) {
  const std::string* last = nullptr; // neighbours mostly lie in one file
  for (const Extent& extent : extents)
    if (extent.file && extent.file != last)
      names.insert(*(last = extent.file));
}

std::set<std::string> filesOfSnapshot(const std::filesystem::path& directory,
                                      const std::string& name) {
  LayerLoader loader(directory);
  std::set<std::string> names{name};
  for (const RegionChain& region : loader.chains(loader.load(name))) {
    addTables(names, *region);
    addContent(names, resolve(*region));
  }
  return names;
}

} // namespace mneme::artifact
