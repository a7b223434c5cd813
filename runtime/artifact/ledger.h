// Room artifact (internal): which regions of a draft are written how.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/artifact/layers.h"
#include "runtime/artifact/writer.h"

namespace mneme::artifact {

/// How one region is written.
struct RegionPlan {
  Region region;
  RegionChain base;                   ///< null: `chunks` are all chunks
  std::span<const ChunkDraft> chunks; ///< those that are not as in the base
  std::vector<ChunkDraft> owned;      ///< where `chunks` lie if they are not the draft's own
};

/// The snapshots of a session by the ids of their drafts. One thread.
class Ledger {
public:
  /// \param regions  of the snapshot, in order
  void add(uint64_t snapshot, std::vector<RegionChain> regions);
  void forget(uint64_t snapshot) { snapshots_.erase(snapshot); }
  /// Drafts to come are based on the latest snapshot of an address (DraftBase): earlier ones with
  /// the addresses of this one are let go. Called when its instance is published, as what is based
  /// on a lost one is lost.
  void settle(uint64_t snapshot);
  /// A file is about to go: what needs it is lost as a base.
  void forgetFile(const std::string& name) { gone_.insert(name); }
  /// How many regions can be bases.
  size_t size() const noexcept;

  /// Plans against the region's base, or one below it where that is nested too deeply; a region
  /// that gives all its chunks against its twin in `similar` (may be empty).
  /// \param isWhole no base may be used
  /// \throws Error{NotFound} for a base that was lost, Error{Internal} for one that does not fit
  /// and for chunks that are not in order or not all there.
  RegionPlan plan(const RegionDraft& draft, const std::vector<RegionChain>& similar,
                  bool isWhole) const;

private:
  bool needsGone(const LayerRegion& region) const;

  std::unordered_map<uint64_t, std::vector<RegionChain>> snapshots_; ///< null: let go
  std::unordered_map<uint64_t, std::pair<uint64_t, size_t>> latest_; ///< by address
  std::set<std::string> gone_;                                       ///< files
};

/// Writes a region against the lowest that it is based on, or in full where that is hardly larger.
void lower(RegionPlan& plan);
/// Writes a region without a base.
void makeWhole(RegionPlan& plan);

/// Whether a region of a snapshot has the chunks that a plan describes. Its size is the plan's.
bool hasContent(const RegionPlan& plan, const LayerRegion& region);

} // namespace mneme::artifact
