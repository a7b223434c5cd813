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

/// A snapshot's table with those its regions are based on.
struct Layer {
  std::string name; ///< of its file
  SnapshotTable table;
  std::vector<std::shared_ptr<const Layer>> bases; ///< per region; null: none
};

/// Opens layers of one directory, each once.
class LayerLoader {
public:
  explicit LayerLoader(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// \throws Error{NotFound, IoFailed, ArtifactCorrupt} naming the file: also for bases that form a
  /// circle, are nested too deeply or do not fit.
  std::shared_ptr<const Layer> load(const std::string& name);
  /// The same for a file that is open already.
  std::shared_ptr<const Layer> load(const std::string& name, const SnapshotFile& file);

private:
  std::filesystem::path directory_;
  std::map<std::string, std::shared_ptr<const Layer>> loaded_;
  std::set<std::string> loading_;
};

/// How many regions `region` is based on, one behind the other.
uint32_t depthOf(const Layer& layer, size_t region);

/// Consecutive chunks of a region whose content is zero or is described side by side in one table.
struct Extent {
  uint64_t first = 0; ///< chunk
  uint64_t count = 0;
  const ChunkRef* refs = nullptr;    ///< null: all zero
  const std::string* file = nullptr; ///< where the content is; null for zeros
};

/// All chunks of a region, in order; points into the layer and those below it.
/// \throws Error{ArtifactCorrupt} for more than any real region needs.
std::vector<Extent> resolve(const Layer& layer, size_t region);

} // namespace mneme::artifact
