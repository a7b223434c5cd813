#include "runtime/core/artifact/table_codec.h"

#include <cstring>
#include <set>
#include <utility>

#include "runtime/core/artifact/chunk_codec.h"
#include "runtime/core/artifact/table_parts.h"

namespace mneme::artifact {
namespace {

/// A description may be this many times larger than its form in the file, so that a small file
/// cannot ask for much memory; small ones may be anything.
constexpr uint64_t kMaxRatio = 16;
constexpr uint64_t kSmallDescription = 64 * 1024;

bool isPlausible(uint64_t rawBytes, uint64_t storedBytes) {
  return rawBytes <= kSmallDescription || rawBytes / kMaxRatio <= storedBytes;
}

struct TableFront {
  uint64_t descriptionBytes = 0;
  uint64_t storedBytes = 0;
  uint64_t hashes = 0;
};

uint64_t zigzag(uint64_t from, uint64_t to) {
  const auto delta = static_cast<int64_t>(to - from);
  return static_cast<uint64_t>(delta) << 1 ^ static_cast<uint64_t>(delta >> 63);
}

uint64_t unzigzag(uint64_t from, uint64_t code) { return from + (code >> 1 ^ -(code & 1)); }

void putRun(ByteWriter& writer, const SnapshotTable& table, const ChunkRun& run,
            std::vector<uint64_t>& ends) {
  writer.putVarint(run.count << 2 | static_cast<uint64_t>(run.kind));
  if (run.kind != RunKind::Stored)
    return;
  writer.putVarint(run.file);
  writer.putVarint(zigzag(ends[run.file], table.refs[run.firstRef].offset));
  for (uint64_t index = run.firstRef; index < run.firstRef + run.count; ++index) {
    const ChunkRef& ref = table.refs[index];
    writer.putVarint(ref.codec == Codec::Raw ? 0 : ref.storedBytes);
    ends[run.file] = ref.offset + ref.storedBytes;
  }
}

/// Reads the runs of one table's regions.
class RunDecoder {
public:
  RunDecoder(ByteReader& reader, std::span<const std::byte> hashes, SnapshotTable& table,
             const SnapshotHeader& header, const std::string& path)
      : reader_(reader), hashes_(hashes), table_(table), header_(header), path_(path),
        ends_(table.references.size() + 1, sizeof(SnapshotHeader)) {
    table_.refs.reserve(hashes.size() / sizeof(Hash128));
  }

  void decode(size_t region) {
    label_ = "region " + std::to_string(region);
    TableRegion& target = table_.regions[region];
    const uint64_t count = chunkCount(target.region.sizeBytes);
    for (uint64_t chunk = 0; chunk < count;) {
      const uint64_t code = reader_.getVarint();
      ChunkRun run;
      run.kind = static_cast<RunKind>(code & 3);
      run.count = code >> 2;
      if (!reader_.isGood())
        corrupt(path_, "its table ends inside " + label_);
      if (run.count == 0 || run.count > count - chunk || run.kind > RunKind::Stored)
        corrupt(path_, label_ + " has an impossible run at chunk " + std::to_string(chunk));
      if (run.kind == RunKind::Base && target.baseFile == 0)
        corrupt(path_, label_ + " leaves chunks to a base it does not have");
      if (run.kind == RunKind::Stored)
        decodeStored(run, target.region.sizeBytes, chunk);
      target.runs.push_back(run);
      chunk += run.count;
    }
  }
  bool isComplete() const { return hashes_.empty(); }

private:
  void decodeStored(ChunkRun& run, uint64_t regionBytes, uint64_t chunk) {
    const uint64_t file = reader_.getVarint();
    if (file >= ends_.size())
      corrupt(path_, describe(chunk) + "refers to a file that is not in the list of references");
    run.file = static_cast<uint32_t>(file);
    run.firstRef = table_.refs.size();
    if (run.count > hashes_.size() / sizeof(Hash128))
      corrupt(path_, label_ + " is larger than the table can describe");
    uint64_t offset = unzigzag(ends_[file], reader_.getVarint());
    for (uint64_t index = 0; index < run.count; ++index) {
      const uint32_t rawBytes = chunkSize(regionBytes, chunk + index);
      const uint64_t size = reader_.getVarint();
      ChunkRef ref;
      std::memcpy(&ref.hash, hashes_.data(), sizeof(Hash128));
      hashes_ = hashes_.subspan(sizeof(Hash128));
      ref.codec = size == 0 ? Codec::Raw : Codec::Zstd;
      ref.storedBytes = size == 0 ? rawBytes : static_cast<uint32_t>(std::min<uint64_t>(size, ~0u));
      ref.offset = offset;
      if (const char* defect =
              chunkDefect(ref, rawBytes, run.file, header_, table_.references.size()))
        corrupt(path_, describe(chunk + index) + defect);
      offset += ref.storedBytes;
      table_.refs.push_back(ref);
    }
    ends_[file] = offset;
  }
  std::string describe(uint64_t chunk) const {
    return "chunk " + std::to_string(chunk) + " of " + label_ + " ";
  }

  ByteReader& reader_;
  std::span<const std::byte> hashes_;
  SnapshotTable& table_;
  const SnapshotHeader& header_;
  const std::string& path_;
  std::vector<uint64_t> ends_; ///< per file, behind the chunk read last
  std::string label_;
};

void checkBases(const SnapshotTable& table, const std::string& path) {
  std::set<std::pair<uint32_t, uint32_t>> used;
  for (size_t index = 0; index < table.regions.size(); ++index) {
    const TableRegion& region = table.regions[index];
    if (region.baseFile > table.references.size())
      corrupt(path, "region " + std::to_string(index) +
                        " is based on a file that is not in the list of references");
    // Nobody writes that; it would let a small file describe any amount of memory.
    if (region.baseFile != 0 && !used.emplace(region.baseFile, region.baseRegion).second)
      corrupt(path, "two regions have the same base");
  }
}

SnapshotTable decodeDescription(std::span<const std::byte> description,
                                std::span<const std::byte> hashes, const SnapshotHeader& header,
                                const std::string& path) {
  ByteReader reader(description);
  SnapshotTable table;
  table.references = getReferences(reader, path);
  const auto regionCount = reader.get<uint32_t>();
  for (uint32_t index = 0; index < regionCount && reader.isGood(); ++index) {
    TableRegion& region = table.regions.emplace_back();
    region.region = getRegion(reader, path, "region " + std::to_string(index));
    region.baseFile = reader.get<uint32_t>();
    region.baseRegion = reader.get<uint32_t>();
  }
  checkBases(table, path);
  checkOverlap(table.regions, path);
  RunDecoder runs(reader, hashes, table, header, path);
  for (size_t index = 0; index < table.regions.size() && reader.isGood(); ++index)
    runs.decode(index);
  const auto argCount = reader.get<uint32_t>();
  for (uint32_t index = 0; index < argCount && reader.isGood(); ++index)
    table.args.push_back(reader.getBytes());
  getParts(reader, table.regions, path);
  if (!reader.isGood() || reader.remaining() != 0 || !runs.isComplete())
    corrupt(path, "its table has the wrong length");
  return table;
}

} // namespace

std::vector<std::byte> encodeTable(const SnapshotTable& table) {
  ByteWriter writer;
  writer.put(static_cast<uint32_t>(table.references.size()));
  for (const std::string& name : table.references)
    writer.putString(name);
  writer.put(static_cast<uint32_t>(table.regions.size()));
  for (const TableRegion& region : table.regions) {
    putRegion(writer, region.region);
    writer.put(region.baseFile);
    writer.put(region.baseRegion);
  }
  std::vector<uint64_t> ends(table.references.size() + 1, sizeof(SnapshotHeader));
  for (const TableRegion& region : table.regions)
    for (const ChunkRun& run : region.runs)
      putRun(writer, table, run, ends);
  writer.put(static_cast<uint32_t>(table.args.size()));
  for (const auto& value : table.args)
    writer.putBytes(value);
  putParts(writer, table.regions);
  const std::vector<std::byte>& description = writer.bytes();
  std::vector<std::byte> packed = compressBytes(description);
  if (packed.size() >= description.size() || !isPlausible(description.size(), packed.size()))
    packed = description;

  ByteWriter whole;
  whole.bytes().reserve(sizeof(TableFront) + packed.size() + table.refs.size() * sizeof(Hash128));
  whole.put(TableFront{description.size(), packed.size(), table.refs.size()});
  whole.bytes().insert(whole.bytes().end(), packed.begin(), packed.end());
  for (const ChunkRef& ref : table.refs)
    whole.put(ref.hash);
  return std::move(whole.bytes());
}

SnapshotTable decodeTable(std::span<const std::byte> bytes, const SnapshotHeader& header,
                          const std::string& path) {
  if (header.version == 1)
    return decodeTableV1(bytes, header, path);
  ByteReader reader(bytes);
  const auto front = reader.get<TableFront>();
  const std::span<const std::byte> content = bytes.last(reader.remaining());
  if (!reader.isGood() || front.storedBytes > content.size() ||
      front.descriptionBytes < front.storedBytes ||
      front.hashes != (content.size() - front.storedBytes) / sizeof(Hash128) ||
      (content.size() - front.storedBytes) % sizeof(Hash128) != 0 ||
      !isPlausible(front.descriptionBytes, front.storedBytes))
    corrupt(path, "its table has impossible sizes");
  const std::span<const std::byte> packed = content.first(front.storedBytes);
  const std::span<const std::byte> hashes = content.subspan(front.storedBytes);
  if (front.descriptionBytes == front.storedBytes)
    return decodeDescription(packed, hashes, header, path);
  std::vector<std::byte> description(front.descriptionBytes);
  if (!decodeChunk(Codec::Zstd, packed, description))
    corrupt(path, "its table cannot be decompressed");
  return decodeDescription(description, hashes, header, path);
}

} // namespace mneme::artifact
