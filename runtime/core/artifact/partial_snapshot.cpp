#include "runtime/core/artifact/partial_snapshot.h"

#include <algorithm>

#include "runtime/core/artifact/byte_stream.h"
#include "runtime/core/artifact/snapshot_file.h"
#include "runtime/core/artifact/table_codec.h"
#include "runtime/core/base/error.h"

namespace mneme::artifact {
namespace {

SnapshotTable partOf(const SnapshotTable& source, const std::string& name,
                     const std::set<size_t>& zero) {
  SnapshotTable table;
  table.references = {name};
  table.args = source.args;
  for (const TableRegion& one : source.regions) {
    const auto index = static_cast<uint32_t>(table.regions.size());
    const uint64_t count = chunkCount(one.region.sizeBytes);
    const bool isZero = zero.contains(index);
    table.regions.push_back({one.region, isZero ? 0u : 1u, isZero ? 0u : index, {}});
    (isZero ? appendZero : appendBase)(table, count);
  }
  return table;
}

} // namespace

Snapshot writePartial(const std::filesystem::path& target, const std::filesystem::path& whole,
                      const std::set<size_t>& zero) {
  const std::string name = whole.filename().string();
  if (target.filename() == name)
    throw Error(ErrorCode::InvalidArgument,
                "'" + target.string() + "' would be based on itself; give it another name");
  const SnapshotTable source = readTable(openSnapshotFile(whole), whole);
  if (!zero.empty() && *zero.rbegin() >= source.regions.size())
    throw Error(ErrorCode::OutOfRange,
                "'" + whole.string() + "' has no region " + std::to_string(*zero.rbegin()));
  const std::vector<std::byte> table = encodeTable(partOf(source, name, zero));
  const SnapshotHeader header = makeHeader(sizeof(SnapshotHeader), table);
  // What a reader would refuse, or read in another way, must not be published.
  const SnapshotTable written = decodeTable(table, header, target.string());
  const auto region = &TableRegion::region;
  if (!std::ranges::equal(written.regions, source.regions, {}, region, region) ||
      written.args != source.args)
    corrupt(whole.string(), "it cannot be written in parts");
  ByteWriter file;
  file.put(header);
  file.bytes().insert(file.bytes().end(), table.begin(), table.end());
  writeFileAtomically(target, file.bytes());
  return Snapshot::open(target);
}

} // namespace mneme::artifact
