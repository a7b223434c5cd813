// Room record: copies what a kernel can see, once for every content.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/artifact/writer.h"
#include "runtime/record/device_access.h"
#include "runtime/record/reach.h"

namespace mneme::record {

/// What the latest snapshots of every region held: where nothing changed since, nothing is looked
/// up or copied.
class CaptureHistory {
public:
  struct Known {
    artifact::DraftBase draft;
    uint64_t sizeBytes = 0;
    std::vector<Hash128> hashes;
  };
  uint64_t newSnapshot() noexcept { return ++lastSnapshot_; }
  /// Null when the region was not seen before with this size.
  const Known* find(const artifact::Region& region) const;
  void remember(const artifact::Region& region, artifact::DraftBase draft,
                std::vector<Hash128> hashes);
  /// Drops regions no snapshot since `oldestSnapshot` held.
  void forgetOlderThan(uint64_t oldestSnapshot);
  /// Snapshots were lost: nothing may build on them.
  void forgetAll() { known_.clear(); }

private:
  std::unordered_map<uint64_t, Known> known_; ///< by address
  uint64_t lastSnapshot_ = 0;
};

/// Takes the snapshots of one launch: hashes every chunk and copies only those whose content
/// neither the writer nor an earlier snapshot of this launch holds. Nothing may write to the
/// regions meanwhile.
class Capture {
public:
  Capture(DeviceAccess& access, artifact::RecordingWriter& writer, CaptureHistory& history)
      : access_(access), writer_(writer), history_(history) {}

  /// With `reach`, what the regions lead to follows them in the snapshot, and what that leads to.
  /// \throws Error; the history must then be forgotten.
  artifact::SnapshotDraft take(const std::vector<artifact::Region>& regions,
                               Reach* reach = nullptr);

private:
  struct Wanted {
    size_t region = 0;
    size_t chunk = 0; ///< in the draft
  };
  using RegionHashes = std::vector<std::vector<Hash128>>; ///< by region, by chunk
  void hashAll(artifact::SnapshotDraft& draft, RegionHashes& hashes,
               std::vector<artifact::Region> regions, Reach* reach);
  void addChanges(artifact::RegionDraft& draft, const std::vector<Hash128>& hashes);
  std::vector<Wanted> chooseContent(const artifact::SnapshotDraft& draft);
  void takeContent(artifact::SnapshotDraft& draft, const std::vector<Wanted>& wanted);

  DeviceAccess& access_;
  artifact::RecordingWriter& writer_;
  CaptureHistory& history_;
  std::unordered_set<Hash128> copied_;
};

} // namespace mneme::record
