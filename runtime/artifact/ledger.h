// Room artifact (internal): which regions of a draft are written how.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/artifact/layers.h"
#include "runtime/artifact/writer.h"

namespace mneme::artifact {

/// How one region is written.
struct RegionPlan {
  Region region;
  std::shared_ptr<const Layer> base; ///< null: `chunks` are all chunks
  uint32_t baseRegion = 0;
  std::span<const ChunkDraft> chunks; ///< those that are not as in the base
  std::vector<ChunkDraft> owned;      ///< where `chunks` lie if they are not the draft's own
};

/// The snapshots of a session by the ids of their drafts. One thread.
class Ledger {
public:
  void add(uint64_t snapshot, std::shared_ptr<const Layer> layer);
  void forget(uint64_t snapshot) { layers_.erase(snapshot); }

  /// Plans against the region's base, or one below it where that is nested too deeply; a region
  /// that gives all its chunks against its twin in `similar` (may be null).
  /// \param isWhole no base may be used
  /// \throws Error{NotFound} for a base that was lost, Error{Internal} for one that does not fit
  /// and for chunks that are not in order or not all there.
  RegionPlan plan(const RegionDraft& draft, const std::shared_ptr<const Layer>& similar,
                  bool isWhole) const;

private:
  std::unordered_map<uint64_t, std::shared_ptr<const Layer>> layers_;
};

/// Whether a snapshot has the chunks that a plan describes. Its size is the plan's.
bool hasContent(const RegionPlan& plan, const Layer& layer, size_t region);

} // namespace mneme::artifact
