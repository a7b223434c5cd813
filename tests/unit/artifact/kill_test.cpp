// kill -9 at random moments while recording: what is listed is whole.
#include <csignal>
#include <random>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/artifact/writer.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

[[noreturn]] void recordForEver(const std::filesystem::path& directory) {
  WriterOptions options;
  options.directory = directory;
  RecordingWriter writer(options);
  writer.addKernel(kernelRecord(1), {noise(100, 1)});
  Bytes content = noise(4 * kChunkBytes, 1);
  for (uint64_t id = 0;; ++id) {
    Bytes after = content;
    after[id * 977 % after.size()] ^= std::byte{1};
    writer.submit(1, instanceOf(id, content, after, &writer));
    content = after;
  }
}

} // namespace

TEST_CASE("a killed session leaves whole instances and says that it was killed") {
  std::mt19937 random(3);
  uint64_t instances = 0, told = 0;
  for (int round = 0; round < 20; ++round) {
    const TemporaryDirectory directory;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
      recordForEver(directory.path());
    // Every second session is killed at any moment, the others while they add to a record.
    for (int wait = 0; round % 2 && wait < 1000 && !exists(directory.path() / "1.json"); ++wait)
      usleep(10000);
    usleep(5000 + random() % 60000);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const DirectoryListing listing = listDirectory(directory.path());
    for (const auto& path : listing.records) {
      const KernelRecord record = KernelRecord::load(path);
      for (const auto& [id, instance] : record.instances) {
        Snapshot::open(directory.path() / instance.prologue).verifyAll();
        Snapshot::open(directory.path() / instance.epilogue).verifyAll();
        ++instances;
      }
    }
    if (!filesIn(directory.path()).empty() &&
        listing.unfinished.size() != filesIn(directory.path()).size())
      REQUIRE(listing.notes.size() == 1);
    for (const std::string& note : listing.notes)
      CHECK(note.find("was killed") != std::string::npos);
    told += listing.notes.size();
    // A later session records into the same directory.
    writeSmallRecording(directory.path(), 1, ~0ull, noise(10, 1), noise(10, 2));
    CHECK(contentOf(directory.path() / "DeviceState.epilogue.1.18446744073709551615.mneme") ==
          noise(10, 2));
  }
  CHECK(instances > 0);
  CHECK(told > 0);
}

} // namespace mneme::artifact::test
