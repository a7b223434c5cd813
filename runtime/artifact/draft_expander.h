// Room artifact (internal): drafts that say only what changed, made whole.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runtime/artifact/writer.h"

namespace mneme::artifact {

/// Remembers the chunks of submitted snapshots. One thread.
class DraftExpander {
public:
  /// Gives every region all its chunks and remembers them under the draft's id.
  /// \throws Error{NotFound} for a base nobody knows, Error{Internal} for one that does not fit.
  void expand(SnapshotDraft& draft);
  /// A lost snapshot is no base.
  void forget(uint64_t snapshot) { known_.erase(snapshot); }

private:
  void expand(RegionDraft& region) const;
  std::unordered_map<uint64_t, std::vector<std::vector<ChunkDraft>>> known_;
};

} // namespace mneme::artifact
