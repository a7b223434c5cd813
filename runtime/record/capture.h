// Room record: copies what a kernel can see, once for every content.
#pragma once

#include <unordered_set>
#include <vector>

#include "runtime/artifact/writer.h"
#include "runtime/record/memory_backend.h"

namespace mneme::record {

/// Takes the snapshots of one launch: hashes every chunk and copies only those whose content
/// neither the writer nor an earlier snapshot of this launch holds. Nothing may write to the
/// regions meanwhile.
class Capture {
public:
  Capture(const MemoryBackend& backend, const artifact::RecordingWriter& writer)
      : backend_(backend), writer_(writer) {}

  artifact::SnapshotDraft take(const std::vector<artifact::Region>& regions);

private:
  artifact::RegionDraft takeRegion(const artifact::Region& region);
  const MemoryBackend& backend_;
  const artifact::RecordingWriter& writer_;
  std::unordered_set<Hash128> copied_;
  std::vector<artifact::DraftSlab> storage_; ///< of the snapshot that is being taken
};

} // namespace mneme::record
