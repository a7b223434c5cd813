// Room recorder: copies the memory that a kernel can access, each content once.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/core/artifact/writer.h"
#include "runtime/recorder/device_access.h"
#include "runtime/recorder/reach.h"

namespace mneme::record {

/// The content of every region in the latest snapshots. Unchanged content is neither looked up nor
/// copied again.
class CaptureHistory {
public:
  struct Known {
    artifact::DraftBase draft;
    uint64_t sizeBytes = 0;
    std::vector<Hash128> hashes;
  };
  uint64_t newSnapshot() noexcept { return ++lastSnapshot_; }
  /// Returns null if the region was not seen before with this size.
  const Known* find(const artifact::Region& region) const;
  void remember(const artifact::Region& region, artifact::DraftBase draft,
                std::vector<Hash128> hashes);
  /// Drops regions that are in no snapshot since `oldestSnapshot`.
  void forgetOlderThan(uint64_t oldestSnapshot);
  /// Call it when snapshots were lost: nothing may be based on them.
  void forgetAll() { known_.clear(); }

private:
  std::unordered_map<uint64_t, Known> known_; ///< by address
  uint64_t lastSnapshot_ = 0;
};

/// Takes the snapshots of one launch: hashes every chunk, and copies only content that neither the
/// writer nor an earlier snapshot of this launch has. Nothing may write to the regions meanwhile.
class Capture {
public:
  Capture(DeviceAccess& access, artifact::RecordingWriter& writer, CaptureHistory& history)
      : access_(access), writer_(writer), history_(history) {}

  /// With `reach`, memory that pointers in the regions lead to follows them in the snapshot, and so
  /// on.
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
