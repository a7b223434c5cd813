// Room core/artifact (internal): reads snapshots that only describe how they differ from others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "runtime/core/artifact/snapshot_file.h"
#include "runtime/core/artifact/snapshot_table.h"

namespace mneme::artifact {

/// The longest chain of bases that a region is written with.
inline constexpr uint32_t kMaxDepth = 16;

/// A snapshot's table.
struct Layer {
  std::string name; ///< name of its file
  SnapshotTable table;
  uint64_t tableBytes = 0; ///< size in the file
};

/// A region of a snapshot with its base, which may have a base in turn. The chain consists of
/// tables, not of whole snapshots: it neither keeps nor reads what only other regions need.
struct LayerRegion {
  std::shared_ptr<const Layer> layer;
  uint32_t index = 0;
  std::shared_ptr<const LayerRegion> base; ///< null: the layer describes all chunks
  uint32_t depth = 0;                      ///< number of bases below it

  const TableRegion& table() const { return layer->table.regions[index]; }
};
using RegionChain = std::shared_ptr<const LayerRegion>;

/// Combines a region with its base; null if it has none.
RegionChain chainOf(std::shared_ptr<const Layer> layer, uint32_t index, RegionChain base);

/// Returns the last base in the chain of `region`; `region` itself if it has none.
RegionChain rootOf(RegionChain region);

/// Reads tables of one directory, each once and only when asked for.
class LayerLoader {
public:
  explicit LayerLoader(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// \throws Error{NotFound, IoFailed, ArtifactCorrupt} naming the file.
  std::shared_ptr<const Layer> load(const std::string& name);
  /// The same for an open file.
  std::shared_ptr<const Layer> load(const std::string& name, const SnapshotFile& file);

  /// Returns one region with its chain of bases. \throws as load(), also if bases form a circle,
  /// are nested too deeply or do not fit.
  RegionChain chain(const std::shared_ptr<const Layer>& layer, uint32_t region);
  /// Returns the chains of all regions of a snapshot.
  std::vector<RegionChain> chains(const std::shared_ptr<const Layer>& layer);

  /// Number and size of the tables read so far.
  size_t tables() const noexcept { return loaded_.size(); }
  uint64_t tableBytes() const noexcept { return tableBytes_; }

private:
  std::shared_ptr<const Layer> baseOf(const Layer& layer, uint32_t region);

  std::filesystem::path directory_;
  std::map<std::string, std::shared_ptr<const Layer>> loaded_;
  std::map<std::pair<const Layer*, uint32_t>, RegionChain> chains_;
  uint64_t tableBytes_ = 0;
};

/// Consecutive chunks of a region that are all zero, or are described by consecutive entries of one
/// table.
struct Extent {
  uint64_t first = 0; ///< chunk
  uint64_t count = 0;
  const ChunkRef* refs = nullptr;    ///< null: all zero
  const std::string* file = nullptr; ///< where the content is; null for zeros
};

/// Returns all chunks of a region, in order. The result points into its layer and those below it.
/// \throws Error{ArtifactCorrupt} for more than any real region needs.
std::vector<Extent> resolve(const LayerRegion& region);

/// Add the names of the files whose tables a region needs, its own included, and of the files with
/// its content. Other files that these refer to are needed for other regions only.
void addTables(std::set<std::string>& names, const LayerRegion& region);
void addContent(std::set<std::string>& names, const std::vector<Extent>& extents);

/// Returns the names of all files that snapshot `name` of a directory needs, itself included. Reads
/// tables only. \throws as LayerLoader.
std::set<std::string> filesOfSnapshot(const std::filesystem::path& directory,
                                      const std::string& name);

} // namespace mneme::artifact
