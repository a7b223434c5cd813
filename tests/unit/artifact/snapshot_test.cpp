#include <cstring>

#include <doctest/doctest.h>

#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/artifact/table_codec.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

/// A snapshot file with an arbitrary table and otherwise valid checksums.
void writeRaw(const std::filesystem::path& path, const SnapshotTable& table, const Bytes& content) {
  const Bytes encoded = encodeTable(table);
  const SnapshotHeader header = makeHeader(sizeof(SnapshotHeader) + content.size(), encoded);
  Bytes file(sizeof(header));
  std::memcpy(file.data(), &header, sizeof(header));
  file.insert(file.end(), content.begin(), content.end());
  file.insert(file.end(), encoded.begin(), encoded.end());
  writeFileAtomically(path, file);
}

std::string refusal(const SnapshotTable& table) {
  const TemporaryDirectory directory;
  writeRaw(directory.path() / "x.mneme", table, Bytes(256));
  try {
    Snapshot::open(directory.path() / "x.mneme").verifyAll();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::ArtifactCorrupt);
    return error.what();
  }
  return "accepted";
}

SnapshotTable tableOf(std::initializer_list<Region> regions) {
  SnapshotTable table;
  for (const Region& region : regions) {
    table.regions.push_back({region, 0, 0, {}});
    appendZero(table, std::max<uint64_t>(std::min<uint64_t>(chunkCount(region.sizeBytes), 4), 1));
  }
  return table;
}

/// A region of 100 bytes whose only chunk is stored.
SnapshotTable storedIn(uint32_t file, const ChunkRef& ref) {
  SnapshotTable table;
  Region region;
  region.address = 4096;
  region.sizeBytes = 100;
  table.regions.push_back({region, 0, 0, {}});
  appendStored(table, file, ref);
  return table;
}

/// A region without chunks of its own.
SnapshotTable basedOn(const std::string& file, uint32_t region, uint64_t sizeBytes) {
  SnapshotTable table = tableOf({});
  table.references = {file};
  Region described;
  described.address = 4096;
  described.sizeBytes = sizeBytes;
  table.regions.push_back({described, 1, region, {}});
  appendBase(table, chunkCount(sizeBytes));
  return table;
}

Region region(uint64_t address, uint64_t size) {
  Region value;
  value.address = address;
  value.sizeBytes = size;
  return value;
}

} // namespace

TEST_CASE("any part of a region can be read") {
  const TemporaryDirectory directory;
  Bytes content = noise(5 * kChunkBytes + 1234, 7);
  std::fill_n(content.begin() + kChunkBytes, 2 * kChunkBytes, std::byte{});
  writeSmallRecording(directory.path(), 1, 2, content, content);
  const Snapshot snapshot = Snapshot::open(directory.path() / "DeviceState.prologue.1.2.mneme");
  for (uint64_t offset = 0; offset < content.size(); offset += 9973)
    for (const uint64_t size : {uint64_t{1}, uint64_t{4096}, kChunkBytes, 3 * kChunkBytes}) {
      if (offset + size > content.size())
        continue;
      Bytes part(size);
      snapshot.read(0, offset, part);
      CHECK(std::memcmp(part.data(), content.data() + offset, size) == 0);
    }
  Bytes one(1);
  CHECK_THROWS_AS(snapshot.read(0, content.size(), one), Error);
  CHECK_THROWS_AS(snapshot.read(1, 0, one), Error);
}

TEST_CASE("a large region is read whole") {
  const TemporaryDirectory directory;
  const Bytes content = noise(9 << 20, 3);
  writeSmallRecording(directory.path(), 1, 2, content, content);
  CHECK(contentOf(directory.path() / "DeviceState.epilogue.1.2.mneme") == content);
}

TEST_CASE("changed ranges are whole chunks and adjacent ones are joined") {
  const TemporaryDirectory directory;
  const Bytes before = noise(6 * kChunkBytes + 10, 1);
  Bytes after = before;
  for (const size_t at : {size_t{kChunkBytes}, size_t{2 * kChunkBytes + 5}, after.size() - 1})
    after[at] ^= std::byte{1};
  writeSmallRecording(directory.path(), 1, 2, before, after);
  const auto ranges =
      changedRanges(Snapshot::open(directory.path() / "DeviceState.prologue.1.2.mneme"),
                    Snapshot::open(directory.path() / "DeviceState.epilogue.1.2.mneme"), 0);
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].offset == kChunkBytes);
  CHECK(ranges[0].sizeBytes == 2 * kChunkBytes);
  CHECK(ranges[1].offset == 6 * kChunkBytes);
  CHECK(ranges[1].sizeBytes == 10);
}

TEST_CASE("hostile tables are refused with a sentence") {
  CHECK(refusal(tableOf({region(4096, 100)})) == "accepted");
  CHECK(refusal(tableOf({region(4096, 100), region(4100, 8)})).find("overlap") !=
        std::string::npos);
  CHECK(refusal(tableOf({region(4096, 0)})).find("impossible size") != std::string::npos);
  CHECK(refusal(tableOf({region(~0ull - 5, 100)})).find("impossible size") != std::string::npos);
  CHECK(refusal(tableOf({region(4096, 1ull << 60)})).find("impossible run") != std::string::npos);

  SnapshotTable table = tableOf({region(4096, 100)});
  table.references = {"../../etc/passwd"};
  CHECK(refusal(table).find("not a plain name") != std::string::npos);
  table.references = {"/etc/passwd"};
  CHECK(refusal(table).find("not a plain name") != std::string::npos);
  table.references.clear();

  const Hash128 other{1, 2};
  CHECK(refusal(storedIn(0, {other, 64, 100, Codec::Raw})).find("checksum does not match") !=
        std::string::npos);
  CHECK(refusal(storedIn(0, {other, 1 << 20, 100, Codec::Raw})).find("outside") !=
        std::string::npos);
  CHECK(refusal(storedIn(0, {other, ~0ull - 4, 100, Codec::Raw})).find("impossible offset") !=
        std::string::npos);
  CHECK(refusal(storedIn(0, {other, 64, 1 << 30, Codec::Zstd})).find("stored size") !=
        std::string::npos);
  SnapshotTable missing = storedIn(1, {other, 64, 100, Codec::Raw});
  missing.references = {"gone.mneme"};
  const TemporaryDirectory directory;
  writeRaw(directory.path() / "x.mneme", missing, Bytes(256));
  CHECK_THROWS_WITH_AS(Snapshot::open(directory.path() / "x.mneme").verifyAll(),
                       doctest::Contains("cannot open"), Error);
}

TEST_CASE("bases that do not fit are refused with a sentence") {
  const TemporaryDirectory directory;
  const auto opening = [&](const std::string& name) {
    Snapshot::open(directory.path() / name).verifyAll();
  };
  writeRaw(directory.path() / "base.mneme", tableOf({region(4096, 100)}), Bytes(256));
  writeRaw(directory.path() / "fits.mneme", basedOn("base.mneme", 0, 100), Bytes(256));
  CHECK_NOTHROW(opening("fits.mneme"));
  writeRaw(directory.path() / "size.mneme", basedOn("base.mneme", 0, 101), Bytes(256));
  CHECK_THROWS_WITH_AS(opening("size.mneme"), doctest::Contains("another size"), Error);
  writeRaw(directory.path() / "index.mneme", basedOn("base.mneme", 1, 100), Bytes(256));
  CHECK_THROWS_WITH_AS(opening("index.mneme"), doctest::Contains("does not exist"), Error);
  SnapshotTable table = basedOn("base.mneme", 0, 100);
  table.references.clear();
  CHECK(refusal(table).find("not in the list of references") != std::string::npos);
  table = basedOn("base.mneme", 0, 100);
  table.regions[0].baseFile = 0;
  CHECK(refusal(table).find("a base it does not have") != std::string::npos);
  table = basedOn("base.mneme", 0, 100);
  table.regions.push_back(table.regions[0]);
  table.regions[1].region.address += 4096;
  CHECK(refusal(table).find("the same base") != std::string::npos);
}

TEST_CASE("snapshots based on one another for ever are refused") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "0.mneme";
  writeRaw(path, basedOn("0.mneme", 0, 100), Bytes(256));
  CHECK_THROWS_WITH_AS(Snapshot::open(path), doctest::Contains("based on itself"), Error);
  writeRaw(path, basedOn("1.mneme", 0, 100), Bytes(256));
  writeRaw(directory.path() / "1.mneme", basedOn("0.mneme", 0, 100), Bytes(256));
  CHECK_THROWS_WITH_AS(Snapshot::open(path), doctest::Contains("based on itself"), Error);
  for (int index = 0; index < 300; ++index)
    writeRaw(directory.path() / (std::to_string(index) + ".mneme"),
             basedOn(std::to_string(index + 1) + ".mneme", 0, 100), Bytes(256));
  CHECK_THROWS_WITH_AS(Snapshot::open(path), doctest::Contains("too many"), Error);
}

TEST_CASE("what other regions of a base are based on is not opened") {
  const TemporaryDirectory directory;
  SnapshotTable table = tableOf({region(4096, 100), region(8192, 100)});
  table.regions[0].baseFile = 1;
  table.regions[0].baseRegion = 1;
  table.regions[0].runs.clear();
  table.regions[0].runs.push_back({RunKind::Base, 0, 1, 0});
  for (int index = 0; index < 300; ++index) { // the last one is based on a file that is not there
    table.references = {std::to_string(index + 1) + ".mneme"};
    writeRaw(directory.path() / (std::to_string(index) + ".mneme"), table, Bytes(256));
  }
  const Snapshot snapshot = Snapshot::open(directory.path() / "0.mneme");
  CHECK(snapshot.sizes().tables == 2);
  CHECK(snapshot.neededFiles() == std::set<std::string>{"0.mneme", "1.mneme"});
  CHECK_NOTHROW(snapshot.verifyAll());
}

TEST_CASE("a snapshot that refers to itself or in a circle is refused, not followed for ever") {
  const TemporaryDirectory directory;
  SnapshotTable table = storedIn(1, {Hash128{1, 2}, 64, 100, Codec::Raw});
  table.references = {"b.mneme"};
  writeRaw(directory.path() / "a.mneme", table, Bytes(256));
  table.references = {"a.mneme"};
  writeRaw(directory.path() / "b.mneme", table, Bytes(256));
  CHECK_THROWS_AS(Snapshot::open(directory.path() / "a.mneme").verifyAll(), Error);
}

TEST_CASE("foreign, empty and missing files are told apart") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "x.mneme";
  CHECK_THROWS_WITH_AS(Snapshot::open(path), doctest::Contains("cannot open"), Error);
  writeFileAtomically(path, std::string());
  CHECK_THROWS_WITH_AS(Snapshot::open(path), doctest::Contains("only 0 bytes"), Error);
  writeFileAtomically(path, std::string(200, 'x'));
  CHECK_THROWS_WITH_AS(Snapshot::open(path), doctest::Contains("is not a mneme snapshot"), Error);
  CHECK_THROWS_WITH_AS(Snapshot::open(directory.path()), doctest::Contains("regular file"), Error);
}

} // namespace mneme::artifact::test
