// Snapshots that say only how they differ from earlier ones.
#include <csignal>
#include <random>
#include <thread>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/layers.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/artifact/writer.h"
#include "runtime/core/base/error.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

constexpr uint64_t kAddress = 0x600000000000;
constexpr size_t kChunks = 64;

/// A recorder that knows what changed: snapshots 1, 2, ... each based on the one before.
class Recorder {
public:
  explicit Recorder(const std::filesystem::path& directory, EpilogueFormat format,
                    uint64_t seed = 1)
      : writer(optionsFor(directory, format)), content_(noise(kChunks * kChunkBytes - 7, seed)) {
    writer.addKernel(kernelRecord(1), {noise(100, 1)});
  }

  /// Records a launch that changes `changes` chunks.
  void launch(uint64_t dynamicHash, size_t changes) {
    InstanceDraft draft;
    draft.instance.dynamicHash = dynamicHash;
    draft.prologue = snapshot();
    change(changes);
    draft.epilogue = snapshot();
    writer.submit(1, std::move(draft));
  }
  /// What the host changes between launches.
  void change(size_t changes) {
    for (size_t count = 0; count < changes; ++count) {
      const size_t chunk = random_() % kChunks;
      const size_t size = std::min<size_t>(kChunkBytes, content_.size() - chunk * kChunkBytes);
      const Bytes fresh = random_() % 4 == 0 ? Bytes(size) : noise(size, random_() % 50);
      std::copy(fresh.begin(), fresh.end(),
                content_.begin() + static_cast<ptrdiff_t>(chunk * kChunkBytes));
    }
  }
  const Bytes& content() const { return content_; }
  uint64_t lastId() const { return lastId_; }

  RecordingWriter writer;

private:
  static WriterOptions optionsFor(const std::filesystem::path& directory, EpilogueFormat format) {
    WriterOptions options;
    options.directory = directory;
    options.epilogueFormat = format;
    options.compressionThreads = 2;
    return options;
  }

  SnapshotDraft snapshot() {
    SnapshotDraft whole = snapshotOf(kAddress, content_, &writer);
    whole.id = ++lastId_;
    if (!known_.empty()) {
      RegionDraft& region = whole.regions[0];
      region.base = DraftBase{lastId_ - 1, 0};
      std::erase_if(region.chunks,
                    [this](const ChunkDraft& chunk) { return chunk.hash == known_[chunk.index]; });
    }
    known_.resize(kChunks);
    for (const ChunkDraft& chunk : whole.regions[0].chunks)
      known_[chunk.index] = chunk.hash;
    return whole;
  }

  Bytes content_;
  std::vector<Hash128> known_;
  std::mt19937_64 random_{7};
  uint64_t lastId_ = 0;
};

std::filesystem::path prologueOf(const std::filesystem::path& directory, uint64_t dynamicHash) {
  return directory / KernelRecord::load(directory / "1.json").instances.at(dynamicHash).prologue;
}
std::filesystem::path epilogueOf(const std::filesystem::path& directory, uint64_t dynamicHash) {
  return directory / KernelRecord::load(directory / "1.json").instances.at(dynamicHash).epilogue;
}

} // namespace

TEST_CASE("a long chain of snapshots reads back, nested hardly where tables are small") {
  for (const EpilogueFormat format : {EpilogueFormat::Diff, EpilogueFormat::Bytes}) {
    const TemporaryDirectory directory;
    Recorder recorder(directory.path(), format);
    std::map<uint64_t, std::pair<Bytes, Bytes>> expected;
    for (uint64_t id = 0; id < 40; ++id) {
      const Bytes before = recorder.content();
      recorder.launch(id, id % 5);
      expected[id] = {before, recorder.content()};
      if (id % 7 == 0)
        recorder.change(1);
    }
    recorder.writer.finish();
    REQUIRE(recorder.writer.statistics().losses.empty());
    uint32_t deepest = 0;
    for (const auto& [id, contents] : expected) {
      CHECK(contentOf(prologueOf(directory.path(), id)) == contents.first);
      CHECK(contentOf(epilogueOf(directory.path(), id)) == contents.second);
      const Snapshot prologue = Snapshot::open(prologueOf(directory.path(), id));
      const Snapshot epilogue = Snapshot::open(epilogueOf(directory.path(), id));
      CHECK((format == EpilogueFormat::Diff || epilogue.references().empty()));
      uint64_t changed = 0;
      for (const ChangedRange& range : changedRanges(prologue, epilogue, 0))
        changed += range.sizeBytes;
      CHECK(changed <= (id % 5) * kChunkBytes);
      CHECK((changed == 0) == (contents.first == contents.second));
      const auto name = prologueOf(directory.path(), id).filename().string();
      LayerLoader loader(directory.path());
      deepest = std::max(deepest, loader.chain(loader.load(name), 0)->depth);
    }
    CHECK(deepest == 1);
  }
}

TEST_CASE("a copied record leaves behind what other kernels need") {
  const TemporaryDirectory from, to;
  Recorder recorder(from.path(), EpilogueFormat::Diff);
  for (uint64_t id = 0; id < 20; ++id)
    recorder.launch(id, 2);
  recorder.writer.addKernel(kernelRecord(2), {});
  recorder.writer.submit(2, instanceOf(1, recorder.content(), noise(10, 1), &recorder.writer));
  recorder.writer.finish();
  const Snapshot whole = Snapshot::open(from.path() / "DeviceState.prologue.2.1.mneme");
  copyRecords({from.path() / "2.json"}, to.path());
  CHECK(filesIn(to.path()).size() <= whole.neededFiles().size() + 2);
  CHECK(filesIn(to.path()).size() < filesIn(from.path()).size());
  CHECK(contentOf(to.path() / "DeviceState.prologue.2.1.mneme") == recorder.content());
  // Content of a file whose own bases stayed behind serves the next session, too.
  writeSmallRecording(to.path(), 3, 1, recorder.content(), noise(10, 1));
  CHECK(contentOf(to.path() / "DeviceState.prologue.3.1.mneme") == recorder.content());
}

TEST_CASE("an unchanged region costs a few hundred bytes") {
  const TemporaryDirectory directory;
  Recorder recorder(directory.path(), EpilogueFormat::Diff);
  recorder.launch(1, 3);
  recorder.launch(2, 0);
  recorder.writer.finish();
  CHECK(file_size(epilogueOf(directory.path(), 2)) < 400);
  CHECK(file_size(prologueOf(directory.path(), 2)) < 400);
  CHECK(changedRanges(Snapshot::open(prologueOf(directory.path(), 2)),
                      Snapshot::open(epilogueOf(directory.path(), 2)), 0)
            .empty());
}

TEST_CASE("a copied record brings everything its snapshots are based on") {
  const TemporaryDirectory from, to;
  Recorder recorder(from.path(), EpilogueFormat::Diff);
  for (uint64_t id = 0; id < 20; ++id)
    recorder.launch(id, 2);
  recorder.writer.finish();
  moveRecords({from.path() / "1.json"}, to.path());
  CHECK(filesIn(from.path()).empty());
  CHECK(contentOf(epilogueOf(to.path(), 19)) == recorder.content());
}

TEST_CASE("replacing an instance keeps what others are based on") {
  const TemporaryDirectory directory;
  Recorder recorder(directory.path(), EpilogueFormat::Diff);
  recorder.launch(1, 2);
  recorder.launch(2, 2);
  recorder.launch(1, 2); // replaces the first, which the second is based on
  recorder.launch(3, 0);
  const Bytes last = recorder.content();
  recorder.writer.finish();
  REQUIRE(recorder.writer.statistics().losses.empty());
  writeSmallRecording(directory.path(), 1, 3, noise(100, 1), noise(100, 2));
  Snapshot::open(epilogueOf(directory.path(), 2)).verifyAll();
  CHECK(contentOf(epilogueOf(directory.path(), 1)) == last);
}

TEST_CASE("recording the same again in a new session changes nothing and can be a base") {
  const TemporaryDirectory directory;
  for (int session = 0; session < 2; ++session) {
    Recorder recorder(directory.path(), EpilogueFormat::Diff);
    recorder.launch(1, 2);
    recorder.launch(2, 2);
    recorder.writer.finish();
    CHECK(recorder.writer.statistics().losses.empty());
    CHECK(filesIn(directory.path()).size() == 6);
    CHECK(contentOf(epilogueOf(directory.path(), 2)) == recorder.content());
  }
}

TEST_CASE("what is based on a lost snapshot is lost with a sentence") {
  const TemporaryDirectory directory;
  Recorder recorder(directory.path(), EpilogueFormat::Diff);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = 10 * kChunkBytes;
  setrlimit(RLIMIT_FSIZE, &limit);
  recorder.launch(1, 1);
  recorder.launch(2, 1);
  while (recorder.writer.statistics().instancesLost < 2)
    std::this_thread::yield();
  setrlimit(RLIMIT_FSIZE, &before);
  recorder.launch(3, 1);
  recorder.writer.submit(1, instanceOf(4, noise(100, 1), noise(100, 2), &recorder.writer));
  recorder.writer.finish();
  const WriterStatistics statistics = recorder.writer.statistics();
  CHECK(recorder.writer.isLost(recorder.lastId()));
  CHECK(!recorder.writer.isLost(0));
  CHECK(statistics.instancesWritten == 1);
  REQUIRE(statistics.losses.size() == 3);
  CHECK(statistics.losses[0].find("cannot write") != std::string::npos);
  CHECK(
      statistics.losses[2] ==
      "instance 3 of kernel 1, 4194297 bytes of memory, was lost: it is based on a lost recording");
  CHECK(listDirectory(directory.path()).unfinished.empty());
}

TEST_CASE("slabs are let go when their content is written") {
  const TemporaryDirectory directory;
  WriterOptions options;
  options.directory = directory.path();
  options.queueBytes = 1;
  RecordingWriter writer(options);
  writer.addKernel(kernelRecord(1), {});
  InstanceDraft draft = instanceOf(1, noise(5 * kChunkBytes, 1), noise(kChunkBytes, 2), nullptr);
  const std::weak_ptr<const void> slab = draft.prologue.storage.at(0).owner;
  writer.submit(1, std::move(draft));
  writer.waitForRoom(1);
  CHECK(slab.expired());
  writer.finish();
  CHECK(writer.statistics().instancesWritten == 1);
}

} // namespace mneme::artifact::test
