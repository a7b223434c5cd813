// Room core/artifact (internal): the content that one snapshot file stores itself.
#pragma once

#include <vector>

#include "runtime/core/artifact/snapshot_table.h"

namespace mneme::artifact {

class StoredContent {
public:
  explicit StoredContent(const SnapshotTable& table);

  /// Whether the file stores content with this hash and size at this place.
  bool holds(const ChunkRef& ref) const;

private:
  std::vector<ChunkRef> refs_; ///< by offset
};

} // namespace mneme::artifact
