// Room core/artifact (internal): decides how each region of a captured snapshot is written: with
// all its chunks, or as its difference from a base, which is a region of an earlier snapshot
// (layers.h).
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/core/artifact/drafts.h"
#include "runtime/core/artifact/layers.h"

namespace mneme::artifact {

/// How one region is written.
struct RegionPlan {
  Region region;
  RegionChain base;                   ///< null: the region is written without one
  std::span<const ChunkDraft> chunks; ///< those that differ from the base; all chunks without one
  std::vector<ChunkDraft> owned;      ///< storage of `chunks` unless they are the draft's own
};

/// Remembers the written snapshots of a session, by the ids of their drafts, as bases of later
/// ones. Not thread-safe.
class Ledger {
public:
  /// Enters a written snapshot. \param regions  of the snapshot, in order
  void add(uint64_t snapshot, std::vector<RegionChain> regions);
  void forget(uint64_t snapshot) { snapshots_.erase(snapshot); }
  /// Makes the regions of this snapshot the only possible bases for their addresses, and drops
  /// those of earlier snapshots: later drafts are based on the latest one (DraftBase). Call it only
  /// once the snapshot's instance is published: a draft that is based on a lost snapshot is lost
  /// too.
  void settle(uint64_t snapshot);
  /// Says that a file will be deleted. Regions that need it can no longer be bases.
  void forgetFile(const std::string& name) { gone_.insert(name); }
  /// Returns how many regions can be bases.
  size_t size() const noexcept;

  /// Plans one region. With a base in its draft, the plan uses that base, or the lowest one below
  /// it if bases are nested too deeply. Without, it uses the region in `similar` (may be empty)
  /// with the same address and size, where that saves enough.
  /// \param isWhole  no base may be used
  /// \throws Error{NotFound} if the base was lost
  /// \throws Error{Internal} if the base does not fit, or chunks are missing or not in order
  RegionPlan plan(const RegionDraft& draft, const std::vector<RegionChain>& similar,
                  bool isWhole) const;

private:
  bool needsGone(const LayerRegion& region) const;

  /// Regions by the id of their snapshot; null: dropped.
  std::unordered_map<uint64_t, std::vector<RegionChain>> snapshots_;
  /// Snapshot and index of the latest region at each address.
  std::unordered_map<uint64_t, std::pair<uint64_t, size_t>> latest_;
  std::set<std::string> gone_; ///< names of files that are deleted
};

/// Changes a plan to use the lowest of its nested bases, or none where that is hardly larger.
void lower(RegionPlan& plan);
/// Changes a plan to use no base.
void makeWhole(RegionPlan& plan);

/// Whether a written region has exactly the content that a plan describes. Their sizes must be
/// equal.
bool hasContent(const RegionPlan& plan, const LayerRegion& region);

} // namespace mneme::artifact
