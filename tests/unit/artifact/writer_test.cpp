#include <csignal>
#include <cstring>
#include <random>
#include <thread>

#include <doctest/doctest.h>
#include <sys/resource.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/artifact/writer.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

WriterOptions optionsFor(const std::filesystem::path& directory) {
  WriterOptions options;
  options.directory = directory;
  return options;
}

uint64_t bytesIn(const std::filesystem::path& directory) {
  uint64_t bytes = 0;
  for (const auto& file : filesIn(directory))
    bytes += std::filesystem::file_size(file);
  return bytes;
}

/// Files larger than a limit cannot be written while this lives: a full disk for one process.
class FileSizeLimit {
public:
  explicit FileSizeLimit(uint64_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

private:
  rlimit before_{};
};

} // namespace

TEST_CASE("random instances survive writing and reading") {
  std::mt19937_64 random(11);
  for (const EpilogueFormat format : {EpilogueFormat::Diff, EpilogueFormat::Bytes}) {
    const TemporaryDirectory directory;
    WriterOptions options = optionsFor(directory.path());
    options.epilogueFormat = format;
    options.compressionThreads = 2;
    RecordingWriter writer(options);
    writer.addKernel(kernelRecord(7), {noise(100, 1), noise(50, 2)});
    std::map<uint64_t, std::pair<Bytes, Bytes>> expected;
    for (uint64_t id = 0; id < 25; ++id) {
      Bytes before(1 + random() % (6 * kChunkBytes));
      for (size_t at = 0; at < before.size(); at += kChunkBytes)
        if (random() % 3 != 0) {
          const Bytes part = noise(std::min<size_t>(kChunkBytes, before.size() - at), random() % 9);
          std::copy(part.begin(), part.end(), before.begin() + static_cast<ptrdiff_t>(at));
        }
      Bytes after = before;
      for (unsigned change = 0; change < random() % 4; ++change)
        after[random() % after.size()] ^= std::byte{0x55};
      writer.submit(7, instanceOf(id, before, after, &writer));
      expected[id] = {before, after};
    }
    writer.finish();
    CHECK(writer.statistics().losses.empty());
    CHECK(writer.statistics().instancesWritten == 25);
    const KernelRecord record = KernelRecord::load(directory.path() / "7.json");
    REQUIRE(record.instances.size() == 25);
    CHECK(record.readModule(directory.path(), 1) == noise(50, 2));
    for (const auto& [id, contents] : expected) {
      const Instance& instance = record.instances.at(id);
      CHECK(contentOf(directory.path() / instance.prologue) == contents.first);
      CHECK(contentOf(directory.path() / instance.epilogue) == contents.second);
      const Snapshot epilogue = Snapshot::open(directory.path() / instance.epilogue);
      CHECK((format == EpilogueFormat::Diff || epilogue.references().empty()));
      CHECK(Snapshot::open(directory.path() / instance.prologue).args().at(0) == noise(8, 1));
    }
    CHECK(listDirectory(directory.path()).unfinished.empty());
    CHECK(listDirectory(directory.path()).notes.empty());
  }
}

TEST_CASE("unchanged content is stored once") {
  const TemporaryDirectory directory;
  const Bytes before = noise(100 * kChunkBytes, 1);
  Bytes after = before;
  after[17] ^= std::byte{1};
  writeSmallRecording(directory.path(), 1, 1, before, after);
  const uint64_t first = bytesIn(directory.path());
  CHECK(first < 102 * kChunkBytes);
  Bytes later = after;
  later[kChunkBytes * 5] ^= std::byte{1};
  writeSmallRecording(directory.path(), 1, 2, after, later);
  CHECK(bytesIn(directory.path()) - first < 2 * kChunkBytes);
  CHECK(contentOf(directory.path() / "DeviceState.epilogue.1.2.mneme") == later);
  CHECK(KernelRecord::load(directory.path() / "1.json").instances.size() == 2);
}

TEST_CASE("recording the same again changes nothing and other content replaces the instance") {
  const TemporaryDirectory directory;
  const Bytes content = noise(3 * kChunkBytes, 1), other = noise(3 * kChunkBytes, 2);
  writeSmallRecording(directory.path(), 1, 1, content, content);
  const auto files = filesIn(directory.path());
  writeSmallRecording(directory.path(), 1, 1, content, content);
  CHECK(filesIn(directory.path()) == files);
  for (int round = 0; round < 3; ++round) {
    writeSmallRecording(directory.path(), 1, 1, round % 2 ? content : other, other);
    const KernelRecord record = KernelRecord::load(directory.path() / "1.json");
    CHECK(contentOf(directory.path() / record.instances.at(1).prologue) ==
          (round % 2 ? content : other));
    CHECK(filesIn(directory.path()).size() <= files.size() + 2);
  }
}

TEST_CASE("replacing an instance keeps files that another instance refers to") {
  const TemporaryDirectory directory;
  const Bytes content = noise(3 * kChunkBytes, 1);
  writeSmallRecording(directory.path(), 1, 1, content, content);
  writeSmallRecording(directory.path(), 2, 1, content, content); // refers to kernel 1's prologue
  writeSmallRecording(directory.path(), 1, 1, noise(100, 5), noise(100, 6));
  const KernelRecord second = KernelRecord::load(directory.path() / "2.json");
  CHECK(contentOf(directory.path() / second.instances.at(1).epilogue) == content);
}

TEST_CASE("kernels of one image without IR share its bytes") {
  const TemporaryDirectory directory;
  const Bytes image = noise(700, 1), other = noise(700, 2);
  RecordingWriter writer(optionsFor(directory.path()));
  for (const auto& [hash, code] : {std::pair(1, image), std::pair(2, image), std::pair(3, other)}) {
    KernelRecord record = kernelRecord(hash);
    record.codeForm = "cubin";
    writer.addKernel(record, {code});
    writer.submit(hash, instanceOf(5, noise(10, 1), noise(10, 2), &writer));
  }
  writer.finish();
  for (const uint64_t hash : {1, 2, 3}) {
    const auto record = KernelRecord::load(directory.path() / (std::to_string(hash) + ".json"));
    CHECK(record.codeForm == "cubin");
    CHECK(record.modules.at(0) == "RecordedCode_" + std::to_string(hash) + ".cubin");
    CHECK(record.readModule(directory.path(), 0) == (hash == 3 ? other : image));
    CHECK(std::filesystem::hard_link_count(directory.path() / record.modules.at(0)) ==
          (hash == 3 ? 1 : 2));
  }
  const std::filesystem::path first = directory.path() / "1.json";
  std::string text = KernelRecord::load(first).toJson();
  text.replace(text.find("\"cubin\""), 7, "\"other\"");
  text.erase(text.find("\"Checksum\""), 30); // with its comma
  writeFileAtomically(first, text);
  try {
    KernelRecord::load(first);
    FAIL("a form that does not exist was read");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("unknown form 'other'") != std::string::npos);
  }
}

TEST_CASE("occurrences are published at the end") {
  const TemporaryDirectory directory;
  RecordingWriter writer(optionsFor(directory.path()));
  writer.addKernel(kernelRecord(1), {});
  writer.submit(1, instanceOf(5, noise(10, 1), noise(10, 2), &writer));
  writer.setOccurrences(1, 5, 99);
  writer.setOccurrences(1, 6, 3);
  writer.setLaunches(1, 250);
  writer.setLaunches(2, 7);
  writer.finish();
  writer.finish();
  const KernelRecord record = KernelRecord::load(directory.path() / "1.json");
  CHECK(record.instances.at(5).occurrences == 99);
  CHECK(record.launches == 250);
}

TEST_CASE("what came after an end that was taken back is lost, and nothing builds on it") {
  const TemporaryDirectory directory;
  RecordingWriter writer(optionsFor(directory.path()));
  writer.addKernel(kernelRecord(1), {});
  const Bytes content = noise(3 * kChunkBytes, 2);
  writer.finish();
  InstanceDraft late = instanceOf(5, content, content, &writer);
  late.prologue.id = 17;
  writer.submit(1, std::move(late));
  CHECK(writer.isLost(17));
  writer.reopen();
  writer.submit(1, instanceOf(6, content, content, &writer));
  writer.finish();
  CHECK(writer.statistics().instancesLost == 1);
  const KernelRecord record = KernelRecord::load(directory.path() / "1.json");
  REQUIRE(record.instances.contains(6));
  CHECK(contentOf(directory.path() / record.instances.at(6).prologue) == content);
}

TEST_CASE("of several sessions the largest number of launches is kept") {
  const TemporaryDirectory directory;
  for (const uint64_t launches : {10, 30, 20}) {
    RecordingWriter writer(optionsFor(directory.path()));
    writer.addKernel(kernelRecord(1), {});
    writer.submit(1, instanceOf(launches, noise(10, 1), noise(10, 2), &writer));
    writer.setLaunches(1, launches);
    writer.finish();
  }
  const KernelRecord record = KernelRecord::load(directory.path() / "1.json");
  CHECK(record.launches == 30);
  CHECK(record.instances.size() == 3);
}

TEST_CASE("the queue is bounded and an oversized instance still passes") {
  const TemporaryDirectory directory;
  WriterOptions options = optionsFor(directory.path());
  options.queueBytes = 1;
  RecordingWriter writer(options);
  writer.addKernel(kernelRecord(1), {});
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 3; ++thread)
    threads.emplace_back([&writer, thread] {
      for (uint64_t id = 0; id < 5; ++id)
        writer.submit(1, instanceOf(thread * 100 + id, noise(kChunkBytes * 3, thread * 9 + id),
                                    noise(10, id), &writer));
    });
  for (std::thread& thread : threads)
    thread.join();
  writer.finish();
  CHECK(writer.statistics().instancesWritten == 15);
  CHECK(KernelRecord::load(directory.path() / "1.json").instances.size() == 15);
}

TEST_CASE("what does not fit on the disk is lost with a sentence, and the rest stays valid") {
  const TemporaryDirectory directory;
  RecordingWriter writer(optionsFor(directory.path()));
  writer.addKernel(kernelRecord(1), {noise(100, 1)});
  const Bytes small = noise(1000, 1), large = noise(20 * kChunkBytes, 2);
  {
    const FileSizeLimit limit(10 * kChunkBytes);
    writer.submit(1, instanceOf(1, small, small, &writer));
    writer.submit(1, instanceOf(2, large, large, &writer));
    writer.submit(1, instanceOf(3, large, large, &writer)); // may depend on the lost instance
    while (writer.statistics().instancesWritten + writer.statistics().instancesLost < 3)
      std::this_thread::yield();
  }
  writer.submit(1, instanceOf(4, large, small, &writer));
  writer.finish();
  const WriterStatistics statistics = writer.statistics();
  CHECK(statistics.instancesWritten == 2);
  CHECK(statistics.instancesLost == 2);
  REQUIRE(statistics.losses.size() == 2);
  CHECK(statistics.losses[0].find("instance 2 of kernel 1, " + std::to_string(large.size()) +
                                  " bytes of memory, was lost: cannot write") == 0);
  const KernelRecord record = KernelRecord::load(directory.path() / "1.json");
  REQUIRE(record.instances.size() == 2);
  CHECK(contentOf(directory.path() / record.instances.at(1).prologue) == small);
  CHECK(contentOf(directory.path() / record.instances.at(4).prologue) == large);
  const DirectoryListing listing = listDirectory(directory.path());
  CHECK(listing.unfinished.empty());
  CHECK(listing.notes.size() == 2);
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) // as scripts do
    CHECK((entry.path().extension() != ".json" || entry.path().filename() == "1.json"));
}

TEST_CASE("who sees that an instance was lost does not leave out its content") {
  const TemporaryDirectory directory;
  const Bytes content = noise(20 * kChunkBytes, 1);
  const Hash128 hash = hash128(std::span(content).first(kChunkBytes));
  RecordingWriter writer(optionsFor(directory.path()));
  writer.addKernel(kernelRecord(1), {});
  const FileSizeLimit limit(10 * kChunkBytes);
  for (uint64_t id = 1; id <= 10; ++id) {
    writer.submit(1, instanceOf(id, content, content, nullptr));
    while (writer.statistics().instancesLost < id)
      std::this_thread::yield();
    CHECK_FALSE(writer.hasChunk(hash));
  }
}

TEST_CASE("a large instance is written in pieces, or lost as a whole when the disk is full") {
  const TemporaryDirectory directory;
  Bytes content = noise(kChunkBytes, 1);
  content.resize(1100 * kChunkBytes);
  for (uint64_t chunk = 1; chunk < 1100; ++chunk) {
    std::byte* place = content.data() + chunk * kChunkBytes;
    if (chunk % 5 != 0) // the fifth ones compress
      std::memcpy(place, content.data(), kChunkBytes);
    std::memcpy(place, &chunk, sizeof(chunk));
  }
  RecordingWriter writer(optionsFor(directory.path()));
  writer.addKernel(kernelRecord(1), {});
  {
    const FileSizeLimit limit(40ull << 20);
    writer.submit(1, instanceOf(1, content, noise(10, 1), &writer));
    while (writer.statistics().instancesLost < 1)
      std::this_thread::yield();
  }
  writer.submit(1, instanceOf(2, content, noise(10, 1), &writer));
  writer.finish();
  CHECK(writer.statistics().instancesWritten == 1);
  CHECK(listDirectory(directory.path()).unfinished.empty());
  const auto prologue = directory.path() / "DeviceState.prologue.1.2.mneme";
  CHECK(contentOf(prologue) == content);
  CHECK(file_size(prologue) < 900 * kChunkBytes);
}

TEST_CASE("content that does not match its hash is never stored") {
  const TemporaryDirectory directory;
  RecordingWriter writer(optionsFor(directory.path()));
  writer.addKernel(kernelRecord(1), {});
  InstanceDraft draft = instanceOf(1, noise(1000, 1), noise(1000, 2), nullptr);
  draft.prologue.regions[0].chunks[0].hash.low ^= 1;
  writer.submit(1, std::move(draft));
  draft = instanceOf(2, noise(kChunkBytes + 1, 3), noise(1000, 2), nullptr);
  draft.prologue.regions[0].chunks.pop_back();
  writer.submit(1, std::move(draft));
  writer.finish();
  REQUIRE(writer.statistics().losses.size() == 2);
  CHECK(writer.statistics().losses[0].find("memory changed") != std::string::npos);
  CHECK(writer.statistics().losses[1].find("wrong number of bytes") != std::string::npos);
  CHECK(listDirectory(directory.path()).records.empty());
}

TEST_CASE("a directory that cannot be made is refused at once") {
  const TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "file";
  writeSmallRecording(directory.path(), 1, 1, noise(1, 1), noise(1, 1));
  CHECK_THROWS_AS(RecordingWriter(optionsFor(directory.path() / "1.json")), Error);
  CHECK_THROWS_AS(RecordingWriter(optionsFor(directory.path() / "1.json" / "below")), Error);
}

TEST_CASE("a damaged record is put aside, not overwritten") {
  const TemporaryDirectory directory;
  const Bytes content = noise(100, 1);
  writeSmallRecording(directory.path(), 1, 1, content, content);
  std::filesystem::resize_file(directory.path() / "1.json", 20);
  writeSmallRecording(directory.path(), 1, 2, content, content);
  CHECK(KernelRecord::load(directory.path() / "1.json").instances.size() == 1);
  CHECK(std::filesystem::exists(directory.path() / "1.json.damaged"));
  std::filesystem::resize_file(directory.path() / "1.json", 20);
  writeSmallRecording(directory.path(), 1, 3, content, content);
  CHECK(std::filesystem::exists(directory.path() / "1.json.damaged-2"));
}

TEST_CASE("a record that cannot be read now is neither replaced nor lost") {
  const TemporaryDirectory directory;
  const Bytes content = noise(100, 1);
  const auto record = directory.path() / "1.json", kept = directory.path() / "kept";
  writeSmallRecording(directory.path(), 1, 1, content, content);
  std::filesystem::rename(record, kept);
  std::filesystem::create_symlink("1.json", record); // opening it fails, and proves nothing
  writeSmallRecording(directory.path(), 1, 2, content, content);
  CHECK(std::filesystem::is_symlink(record));
  CHECK_FALSE(std::filesystem::exists(directory.path() / "1.json.damaged"));
  const auto beside = directory.path() / "1.unmerged-1.json";
  CHECK(KernelRecord::load(beside).instances.contains(2));
  CHECK(listDirectory(directory.path()).notes.size() == 1);
  writeSmallRecording(directory.path(), 1, 3, content, content);
  CHECK(KernelRecord::load(beside).instances.size() == 1);

  std::filesystem::rename(kept, record);
  writeSmallRecording(directory.path(), 1, 4, content, content);
  const KernelRecord whole = KernelRecord::load(record);
  CHECK(whole.instances.size() == 4);
  for (const auto& [hash, instance] : whole.instances)
    CHECK(contentOf(directory.path() / instance.prologue) == content);
  CHECK(listDirectory(directory.path()).notes.empty());
}

TEST_CASE("a newer mneme's record stays as it is") {
  const TemporaryDirectory directory;
  const Bytes content = noise(100, 1);
  writeFileAtomically(directory.path() / "1.json", R"({"FormatVersion": 1000})");
  writeSmallRecording(directory.path(), 1, 2, content, content);
  CHECK(readTextFile(directory.path() / "1.json") == R"({"FormatVersion": 1000})");
  CHECK(KernelRecord::load(directory.path() / "1.unmerged-1.json").instances.contains(2));
}

} // namespace mneme::artifact::test
