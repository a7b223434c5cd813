#include <cstring>

#include <doctest/doctest.h>

#include "runtime/artifact/snapshot.h"
#include "runtime/artifact/snapshot_format.h"
#include "runtime/base/error.h"
#include "runtime/base/file.h"
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
    table.regions.push_back(region);
    for (uint64_t index = 0; index < std::min<uint64_t>(chunkCount(region.sizeBytes), 4); ++index)
      table.chunks.push_back(
          {zeroHash(chunkSize(region.sizeBytes, index)), 0, 0, 0, 0, Codec::Zero});
  }
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
  CHECK(refusal(tableOf({region(4096, 1ull << 60)})).find("larger than the table") !=
        std::string::npos);

  SnapshotTable table = tableOf({region(4096, 100)});
  table.references = {"../../etc/passwd"};
  CHECK(refusal(table).find("not a plain name") != std::string::npos);
  table.references = {"/etc/passwd"};
  CHECK(refusal(table).find("not a plain name") != std::string::npos);
  table.references.clear();

  table.chunks[0] = {noise(16, 1).size() ? Hash128{1, 2} : Hash128{}, 64, 100, 100, 1, Codec::Raw};
  CHECK(refusal(table).find("not in the list of references") != std::string::npos);
  table.chunks[0].file = 0;
  CHECK(refusal(table).find("checksum does not match") != std::string::npos);
  table.chunks[0].offset = 1 << 20;
  CHECK(refusal(table).find("outside") != std::string::npos);
  table.chunks[0].offset = ~0ull - 4;
  CHECK(refusal(table).find("impossible offset") != std::string::npos);
  table.chunks[0].storedBytes = 1 << 30;
  CHECK(refusal(table).find("stored size") != std::string::npos);
  table.chunks[0] = {Hash128{1, 2}, 0, 0, 100, 0, Codec::Zero};
  CHECK(refusal(table).find("called zero") != std::string::npos);
}

TEST_CASE("a snapshot that refers to itself or in a circle is refused, not followed for ever") {
  const TemporaryDirectory directory;
  SnapshotTable table = tableOf({region(4096, 100)});
  table.references = {"b.mneme"};
  table.chunks[0] = {Hash128{1, 2}, 64, 100, 100, 1, Codec::Raw};
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
