#include "runtime/core/artifact/snapshot_table.h"

namespace mneme::artifact {

void appendZero(SnapshotTable& table, uint64_t count) {
  auto& runs = table.regions.back().runs;
  if (!runs.empty() && runs.back().kind == RunKind::Zero)
    runs.back().count += count;
  else
    runs.push_back({RunKind::Zero, 0, count, 0});
}

void appendBase(SnapshotTable& table, uint64_t count) {
  auto& runs = table.regions.back().runs;
  if (!runs.empty() && runs.back().kind == RunKind::Base)
    runs.back().count += count;
  else
    runs.push_back({RunKind::Base, 0, count, 0});
}

void appendStored(SnapshotTable& table, uint32_t file, const ChunkRef& ref) {
  auto& runs = table.regions.back().runs;
  const ChunkRun* last = runs.empty() ? nullptr : &runs.back();
  const bool continues = last && last->kind == RunKind::Stored && last->file == file &&
                         table.refs.back().offset + table.refs.back().storedBytes == ref.offset;
  if (continues)
    ++runs.back().count;
  else
    runs.push_back({RunKind::Stored, file, 1, table.refs.size()});
  table.refs.push_back(ref);
}

} // namespace mneme::artifact
