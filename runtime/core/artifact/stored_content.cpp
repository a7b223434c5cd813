#include "runtime/core/artifact/stored_content.h"

#include <algorithm>

namespace mneme::artifact {

StoredContent::StoredContent(const SnapshotTable& table) {
  for (const TableRegion& region : table.regions)
    for (const ChunkRun& run : region.runs)
      if (run.kind == RunKind::Stored && run.file == 0)
        for (uint64_t index = run.firstRef; index < run.firstRef + run.count; ++index)
          refs_.push_back(table.refs[index]);
  std::sort(refs_.begin(), refs_.end(),
            [](const ChunkRef& a, const ChunkRef& b) { return a.offset < b.offset; });
}

bool StoredContent::holds(const ChunkRef& ref) const {
  const auto found =
      std::lower_bound(refs_.begin(), refs_.end(), ref.offset,
                       [](const ChunkRef& one, uint64_t offset) { return one.offset < offset; });
  return found != refs_.end() && found->offset == ref.offset && found->hash == ref.hash &&
         found->storedBytes == ref.storedBytes;
}

} // namespace mneme::artifact
