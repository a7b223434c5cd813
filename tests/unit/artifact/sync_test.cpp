// What a disk that refuses to sync costs: that file, and what needs it.
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/unsynced_files.h"
#include "tests/unit/artifact/fixtures.h"

namespace {

/// Part of the name of files that cannot be synced; empty: all can.
std::string refused;

bool isRefused(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/thread-self/fd/" + std::to_string(descriptor);
  return !refused.empty() && readlink(link.c_str(), path.data(), path.size() - 1) > 0 &&
         std::string(path.data()).find(refused) != std::string::npos;
}

} // namespace

// In place of the C library's, for everything in this program.
extern "C" int fsync(int descriptor) {
  if (isRefused(descriptor)) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace mneme::artifact::test {
namespace {

/// Refuses while it lives.
class Refusing {
public:
  explicit Refusing(std::string part) { refused = std::move(part); }
  ~Refusing() { refused.clear(); }
};

WriterOptions optionsFor(const std::filesystem::path& directory) {
  WriterOptions options;
  options.directory = directory;
  return options;
}

std::string onlyLoss(const RecordingWriter& writer) {
  const WriterStatistics statistics = writer.statistics();
  REQUIRE(statistics.losses.size() == 1);
  return statistics.losses[0];
}

} // namespace

TEST_CASE("files are synced although an application has closed their descriptors") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  UnsyncedFile file{UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)), path};
  close(file.file.get());
  CHECK(syncTogether({&file}) == std::vector<std::string>{""});
  std::filesystem::remove(path);
  CHECK(syncTogether({&file}).at(0) ==
        "cannot sync '" + path.string() + "': No such file or directory");
}

TEST_CASE("a snapshot that does not reach the disk is lost with what needs it, and nothing else") {
  const TemporaryDirectory directory;
  const Bytes shared = noise(4 * kChunkBytes, 1), other = noise(kChunkBytes, 2);
  {
    RecordingWriter writer(optionsFor(directory.path()));
    {
      const Refusing refusing("DeviceState.prologue.1.10.");
      writer.addKernel(kernelRecord(1), {noise(50, 3)});
      writer.addKernel(kernelRecord(2), {noise(50, 4)});
      writer.submit(1, instanceOf(10, shared, shared, &writer));
      writer.submit(2, instanceOf(20, other, other, &writer));
      writer.waitUntilWritten();
    }
    CHECK(onlyLoss(writer).find("instance 10 of kernel 1, ") == 0);
    CHECK(onlyLoss(writer).find("cannot sync") != std::string::npos);
    CHECK(!writer.hasChunk(hash128(std::span(shared).first(kChunkBytes))));
    CHECK(!std::filesystem::exists(directory.path() / "1.json"));
    // It is brought again, and is written then.
    writer.submit(1, instanceOf(11, shared, shared, &writer));
    writer.finish();
    CHECK(writer.statistics().instancesWritten == 2);
  }
  const KernelRecord first = KernelRecord::load(directory.path() / "1.json");
  REQUIRE(first.instances.size() == 1);
  CHECK(contentOf(directory.path() / first.instances.at(11).prologue) == shared);
  CHECK(KernelRecord::load(directory.path() / "2.json").instances.size() == 1);
  for (const auto& path : filesIn(directory.path()))
    CHECK(path.filename().string().find(".1.10.") == std::string::npos);
}

TEST_CASE("instances of one batch that need a lost one are lost with it") {
  const TemporaryDirectory directory;
  const Bytes shared = noise(4 * kChunkBytes, 1);
  RecordingWriter writer(optionsFor(directory.path()));
  writer.addKernel(kernelRecord(1), {noise(50, 3)});
  const Refusing refusing("DeviceState.epilogue.1.10.");
  const Bytes large = noise(300 * kChunkBytes, 8), own = noise(kChunkBytes, 9);
  writer.submit(1, instanceOf(9, large, large, &writer)); // the others wait while it is written
  writer.submit(1, instanceOf(10, own, shared, &writer));
  writer.submit(1, instanceOf(11, shared, shared, &writer)); // leaves out what 10 brings
  writer.finish();
  CHECK(writer.statistics().instancesWritten == 1);
  CHECK(writer.statistics().instancesLost == 2);
  for (const auto& path : listDirectory(directory.path()).records) {
    const KernelRecord record = KernelRecord::load(path);
    CHECK(record.instances.size() == 1);
    CHECK(contentOf(directory.path() / record.instances.at(9).prologue) == large);
  }
}

TEST_CASE("an instance stays that replaced a lost one in the same batch") {
  const TemporaryDirectory directory;
  const Bytes large = noise(300 * kChunkBytes, 8), content = noise(kChunkBytes, 9);
  RecordingWriter writer(optionsFor(directory.path()));
  writer.addKernel(kernelRecord(1), {noise(50, 3)});
  const Refusing refusing("DeviceState.epilogue.1.10.mneme");
  writer.submit(1, instanceOf(9, large, large, &writer)); // the others wait while it is written
  writer.submit(1, instanceOf(10, noise(kChunkBytes, 5), noise(kChunkBytes, 6), &writer));
  writer.submit(1, instanceOf(10, content, content, &writer));
  writer.finish();
  CHECK(writer.statistics().instancesWritten == 2);
  CHECK(writer.statistics().instancesLost == 1);
  const KernelRecord record = KernelRecord::load(directory.path() / "1.json");
  CHECK(contentOf(directory.path() / record.instances.at(10).prologue) == content);
}

TEST_CASE("a record that does not reach the disk loses its new instances, and keeps the others") {
  const TemporaryDirectory directory;
  const Bytes before = noise(kChunkBytes, 1), after = noise(kChunkBytes, 2);
  writeSmallRecording(directory.path(), 1, 5, before, after);
  {
    RecordingWriter writer(optionsFor(directory.path()));
    const Refusing refusing("/1.json");
    writer.addKernel(kernelRecord(1), {noise(50, 3)});
    writer.addKernel(kernelRecord(2), {noise(50, 4)});
    writer.submit(1, instanceOf(6, noise(kChunkBytes, 7), after, &writer));
    writer.submit(2, instanceOf(8, before, after, &writer));
    writer.finish();
    CHECK(writer.statistics().instancesWritten == 1);
    CHECK(onlyLoss(writer).find("instance 6 of kernel 1, ") == 0);
  }
  const KernelRecord record = KernelRecord::load(directory.path() / "1.json");
  REQUIRE(record.instances.size() == 1);
  CHECK(contentOf(directory.path() / record.instances.at(5).prologue) == before);
  CHECK(contentOf(directory.path() /
                  KernelRecord::load(directory.path() / "2.json").instances.at(8).epilogue) ==
        after);
}

TEST_CASE("code that does not reach the disk costs instances, and is written again with the next") {
  const TemporaryDirectory directory;
  RecordingWriter writer(optionsFor(directory.path()));
  const Bytes content = noise(kChunkBytes, 7);
  {
    const Refusing refusing("RecordedIR_1");
    writer.addKernel(kernelRecord(1), {noise(50, 3)});
    writer.submit(1, instanceOf(6, content, noise(kChunkBytes, 8), &writer));
    writer.waitUntilWritten();
  }
  CHECK(writer.statistics().instancesWritten == 0);
  CHECK(onlyLoss(writer).find("cannot sync") != std::string::npos);
  CHECK(listDirectory(directory.path()).records.empty());
  for (const auto& path : filesIn(directory.path()))
    CHECK(path.filename().string().find("RecordedIR_1") == std::string::npos);
  writer.submit(1, instanceOf(7, content, content, &writer));
  writer.finish();
  const KernelRecord record = KernelRecord::load(directory.path() / "1.json");
  CHECK(record.instances.size() == 1);
  CHECK(record.readModule(directory.path(), 0) == noise(50, 3));
}

TEST_CASE("code that was recorded before stays when a disk refuses other code in its place") {
  const TemporaryDirectory directory;
  const Bytes content = noise(kChunkBytes, 7);
  writeSmallRecording(directory.path(), 1, 5, content, content);
  const KernelRecord before = KernelRecord::load(directory.path() / "1.json");
  const Bytes code = before.readModule(directory.path(), 0);
  RecordingWriter writer(optionsFor(directory.path()));
  const Refusing refusing("RecordedIR_1");
  writer.addKernel(kernelRecord(1), {noise(70, 4)});
  writer.submit(1, instanceOf(6, noise(kChunkBytes, 9), content, &writer));
  writer.finish();
  CHECK(writer.statistics().instancesLost == 1);
  CHECK(before.readModule(directory.path(), 0) == code);
}

TEST_CASE("kernels that share an image are lost together when it does not reach the disk") {
  const TemporaryDirectory directory;
  RecordingWriter writer(optionsFor(directory.path()));
  const Bytes image = noise(300, 3), content = noise(kChunkBytes, 7);
  const Bytes large = noise(300 * kChunkBytes, 8);
  const Refusing refusing("RecordedCode_1.");
  writer.addKernel(kernelRecord(9), {noise(50, 3)});
  writer.submit(9, instanceOf(9, large, large, &writer)); // the others wait while it is written
  for (const uint64_t hash : {1, 2}) {
    KernelRecord record = kernelRecord(hash);
    record.codeForm = "cubin";
    writer.addKernel(record, {image});
    writer.submit(hash, instanceOf(hash, content, content, &writer));
  }
  writer.finish();
  CHECK(writer.statistics().instancesWritten == 1);
  CHECK(writer.statistics().instancesLost == 2);
  CHECK(listDirectory(directory.path()).records.size() == 1);
  CHECK(listDirectory(directory.path()).unfinished.empty());
}

} // namespace mneme::artifact::test
