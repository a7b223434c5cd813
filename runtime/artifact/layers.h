// Room artifact (internal): snapshots that say only how they differ from others, made whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/artifact/snapshot_file.h"
#include "runtime/artifact/snapshot_table.h"

namespace mneme::artifact {

/// Regions are based on at most this many others, one behind the other, when they are written.
inline constexpr uint32_t kMaxDepth = 16;

/// A snapshot's table.
struct Layer {
  std::string name; ///< of its file
  SnapshotTable table;
  uint64_t tableBytes = 0; ///< in the file
};

/// A region of a snapshot over what it is based on: a chain of tables, not of whole snapshots, so
/// that it keeps and costs nothing that other regions of these snapshots are based on.
struct LayerRegion {
  std::shared_ptr<const Layer> layer;
  uint32_t index = 0;
  std::shared_ptr<const LayerRegion> base; ///< null: the layer describes all chunks
  uint32_t depth = 0;                      ///< how many are below it

  const TableRegion& table() const { return layer->table.regions[index]; }
};
using RegionChain = std::shared_ptr<const LayerRegion>;

/// Puts a region over its base, null where it has none.
RegionChain chainOf(std::shared_ptr<const Layer> layer, uint32_t index, RegionChain base);

/// The lowest region that `region` is based on over others; itself where it has no base.
RegionChain rootOf(RegionChain region);

/// Reads tables of one directory, each once, and only those that are asked for.
class LayerLoader {
public:
  explicit LayerLoader(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// \throws Error{NotFound, IoFailed, ArtifactCorrupt} naming the file.
  std::shared_ptr<const Layer> load(const std::string& name);
  /// The same for a file that is open already.
  std::shared_ptr<const Layer> load(const std::string& name, const SnapshotFile& file);

  /// One region with all it is based on. \throws as load(): also for bases that form a circle, are
  /// nested too deeply or do not fit.
  RegionChain chain(const std::shared_ptr<const Layer>& layer, uint32_t region);
  /// All regions of a snapshot.
  std::vector<RegionChain> chains(const std::shared_ptr<const Layer>& layer);

  /// What was read so far.
  size_t tables() const noexcept { return loaded_.size(); }
  uint64_t tableBytes() const noexcept { return tableBytes_; }

private:
  std::shared_ptr<const Layer> baseOf(const Layer& layer, uint32_t region);

  std::filesystem::path directory_;
  std::map<std::string, std::shared_ptr<const Layer>> loaded_;
  std::map<std::pair<const Layer*, uint32_t>, RegionChain> chains_;
  uint64_t tableBytes_ = 0;
};

/// Consecutive chunks of a region whose content is zero or is described side by side in one table.
struct Extent {
  uint64_t first = 0; ///< chunk
  uint64_t count = 0;
  const ChunkRef* refs = nullptr;    ///< null: all zero
  const std::string* file = nullptr; ///< where the content is; null for zeros
};

/// All chunks of a region, in order; points into its layer and those below it.
/// \throws Error{ArtifactCorrupt} for more than any real region needs.
std::vector<Extent> resolve(const LayerRegion& region);

/// Names of the files whose tables a region needs, its own included, and of those that hold its
/// content. What else these files refer to is needed for other regions only.
void addTables(std::set<std::string>& names, const LayerRegion& region);
void addContent(std::set<std::string>& names, const std::vector<Extent>& extents);

/// Names of all files that snapshot `name` of a directory needs, itself included. Reads tables
/// only. \throws as LayerLoader.
std::set<std::string> filesOfSnapshot(const std::filesystem::path& directory,
                                      const std::string& name);

} // namespace mneme::artifact
