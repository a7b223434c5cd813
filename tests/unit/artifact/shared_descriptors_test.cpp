// An application that shares its descriptors with ours, as in some containers.
#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include "runtime/core/artifact/recording.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/artifact/writer.h"
#include "runtime/core/base/own_descriptors.h"
#include "runtime/core/base/unique_fd.h"
#include "tests/unit/artifact/fixtures.h"
#include "tests/unit/base/guest_parts.h"

namespace mneme::artifact::test {

using mneme::test::inChild;
using mneme::test::openFile;
using mneme::test::refuseOwnTables;

TEST_CASE("where tables cannot be had, numbers are high and files of others stay whole") {
  CHECK(inChild([] {
    const TemporaryDirectory directory;
    if (!refuseOwnTables() || takeOwnDescriptors())
      return false;
    const UniqueFd high(openFile(directory.path() / "high"));
    WriterOptions options;
    options.directory = directory.path() / "recording";
    RecordingWriter writer(options);
    writer.addKernel(kernelRecord(1), {noise(500, 1)});
    std::atomic<bool> isOver{false};
    std::thread application([&] {
      while (!isOver) {
        for (int number = 3; number < 5000; ++number)
          close(number);
        for (int file = 0; file < 20; ++file)
          openFile(directory.path() / ("theirs-" + std::to_string(file)));
      }
    });
    for (uint64_t id = 0; id < 10; ++id)
      writer.submit(1, instanceOf(id, noise(300 * kChunkBytes, id), noise(10, id), &writer));
    writer.finish();
    isOver = true;
    application.join();
    bool isGood = high.get() == -1;
    for (int file = 0; file < 20; ++file)
      isGood = isGood && std::filesystem::file_size(directory.path() /
                                                    ("theirs-" + std::to_string(file))) == 0;
    if (std::filesystem::exists(options.directory / "1.json"))
      for (const auto& [hash, instance] :
           KernelRecord::load(options.directory / "1.json").instances) {
        Snapshot::open(options.directory / instance.prologue).verifyAll();
        Snapshot::open(options.directory / instance.epilogue).verifyAll();
      }
    return isGood && writer.statistics().instancesWritten + writer.statistics().instancesLost == 10;
  }));
}

} // namespace mneme::artifact::test
