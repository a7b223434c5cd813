// Room artifact (internal): what one snapshot file stores itself.
#pragma once

#include <vector>

#include "runtime/artifact/snapshot_table.h"

namespace mneme::artifact {

class StoredContent {
public:
  explicit StoredContent(const SnapshotTable& table);

  /// Whether the file stores that content, of that size, at that place.
  bool holds(const ChunkRef& ref) const;

private:
  std::vector<ChunkRef> refs_; ///< by offset
};

} // namespace mneme::artifact
