// Snapshots that are as another one, but for regions of zeros.
#include <algorithm>

#include <doctest/doctest.h>

#include "runtime/core/artifact/layers.h"
#include "runtime/core/artifact/partial_snapshot.h"
#include "runtime/core/artifact/writer.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSize = 3 * kChunkBytes + 5;

/// Memory of several kinds, annotated as a whole and in part; returns the snapshot's path.
fs::path recordRegions(const fs::path& directory, size_t count) {
  WriterOptions options;
  options.directory = directory;
  RecordingWriter writer(options);
  writer.addKernel(kernelRecord(1), {noise(100, 1)});
  InstanceDraft draft;
  draft.instance.dynamicHash = 2;
  draft.prologue.args = {noise(8, 1), {}, noise(300, 2)};
  for (size_t index = 0; index < count; ++index) {
    SnapshotDraft one = snapshotOf((index + 1) << 32, noise(kSize, index), nullptr);
    draft.prologue.regions.push_back(std::move(one.regions[0]));
    draft.prologue.storage.push_back(std::move(one.storage[0]));
    Region& region = draft.prologue.regions.back().region;
    region.kind = static_cast<RegionKind>(index % 4);
    region.isConstant = index % 2 == 1;
    region.name = index % 4 == 3 ? "table" : "";
    if (index == 1)
      region.annotation = {true, 7, 1e-3, 1, 2, "field"};
    if (index == 2)
      region.parts = {{8, 16, {true, 6, 0.5, 0, 1, "halo"}}, {64, 8, {true, 1, 0, 0, 0, ""}}};
  }
  writer.submit(1, std::move(draft));
  writer.finish();
  return directory / "DeviceState.prologue.1.2.mneme";
}

Bytes contentOf(const Snapshot& snapshot, size_t region) {
  Bytes content(snapshot.regions().at(region).sizeBytes);
  snapshot.read(region, 0, content);
  return content;
}

/// Whether `part` is as `whole`, with zeros in these regions only.
void checkPart(const Snapshot& part, const Snapshot& whole, const std::set<size_t>& zero) {
  CHECK(part.regions() == whole.regions());
  CHECK(part.args() == whole.args());
  for (size_t index = 0; index < whole.regions().size(); ++index) {
    CAPTURE(index);
    const Bytes expected = contentOf(whole, index);
    CHECK(contentOf(part, index) == (zero.contains(index) ? Bytes(expected.size()) : expected));
  }
  CHECK_NOTHROW(part.verifyAll());
}

uint64_t neededBytes(const Snapshot& snapshot, const std::string& name) {
  uint64_t bytes = 0;
  auto ranges = snapshot.neededRanges();
  for (const ByteRange& range : ranges[name])
    bytes += range.sizeBytes;
  return bytes;
}

ErrorCode refusal(const fs::path& target, const fs::path& whole, const std::set<size_t>& zero) {
  try {
    writePartial(target, whole, zero);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Ok;
}

} // namespace

TEST_CASE("a part has zeros where it is told, and all else of the whole snapshot") {
  const TemporaryDirectory directory;
  const fs::path path = recordRegions(directory.path(), 5);
  const Snapshot whole = Snapshot::open(path);
  REQUIRE(whole.regions()[1].annotation.isSet);
  REQUIRE(whole.regions()[2].parts.size() == 2);
  for (const std::set<size_t>& zero : {std::set<size_t>{}, {1}, {0, 2, 4}, {0, 1, 2, 3, 4}}) {
    const Snapshot part = writePartial(directory.path() / "part.mneme", path, zero);
    checkPart(part, whole, zero);
    CHECK(part.references() == std::vector{path.filename().string()});
    const uint64_t stored =
        neededBytes(whole, path.filename()) - neededBytes(part, path.filename());
    CHECK(stored >= zero.size() * kSize);
  }
}

TEST_CASE("a part of a snapshot without regions has its arguments") {
  const TemporaryDirectory directory;
  const fs::path path = recordRegions(directory.path(), 0);
  const Snapshot part = writePartial(directory.path() / "part.mneme", path, {});
  checkPart(part, Snapshot::open(path), {});
  CHECK(part.args().size() == 3);
}

TEST_CASE("a part of a part has the zeros of both, until bases are nested too deeply") {
  const TemporaryDirectory directory;
  fs::path path = recordRegions(directory.path(), 2);
  const Snapshot whole = Snapshot::open(path);
  for (size_t depth = 0; depth < 2 * kMaxDepth; ++depth) {
    const fs::path next = directory.path() / (std::to_string(depth) + ".mneme");
    const Snapshot part =
        writePartial(next, path, depth == 3 ? std::set<size_t>{1} : std::set<size_t>{});
    checkPart(part, whole, depth < 3 ? std::set<size_t>{} : std::set<size_t>{1});
    path = next;
  }
}

TEST_CASE("parts are made of recordings of every version") {
  for (const char* version : {"v1", "v2"}) {
    CAPTURE(version);
    const TemporaryDirectory directory;
    fs::copy(fs::path(MNEME_TEST_GOLDEN) / version, directory.path());
    for (const fs::path& file : filesIn(directory.path())) {
      if (file.extension() != ".mneme")
        continue;
      CAPTURE(file.filename());
      const Snapshot whole = Snapshot::open(file);
      REQUIRE(!whole.regions().empty());
      checkPart(writePartial(file.string() + ".part", file, {0}), whole, {0});
    }
  }
}

TEST_CASE("what cannot be written in parts leaves the files as they are") {
  const TemporaryDirectory directory, other;
  const fs::path path = recordRegions(directory.path(), 2);
  const Bytes before = readFile(path);
  const auto files = filesIn(directory.path());
  const fs::path target = directory.path() / "part.mneme";
  CHECK(refusal(path, path, {}) == ErrorCode::InvalidArgument);
  CHECK(refusal(target, path, {2}) == ErrorCode::OutOfRange);
  CHECK(refusal(target, directory.path() / "none", {}) == ErrorCode::NotFound);
  CHECK(refusal(target, directory.path() / "1.json", {}) == ErrorCode::ArtifactCorrupt);
  CHECK(refusal(directory.path() / "none" / "part", path, {}) == ErrorCode::IoFailed);
  CHECK(filesIn(directory.path()) == files);
  CHECK(readFile(path) == before);
  // The file beside it is another one, or none.
  CHECK(refusal(other.path() / "part.mneme", path, {}) == ErrorCode::NotFound);
}

} // namespace mneme::artifact::test
