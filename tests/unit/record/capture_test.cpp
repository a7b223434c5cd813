#include <cstdlib>
#include <random>

#include <doctest/doctest.h>

#include "runtime/core/artifact/snapshot.h"
#include "runtime/recorder/capture.h"

namespace mneme::record::test {

TEST_CASE("a capture copies every content once and reads back as it was") {
  std::string name = (std::filesystem::temp_directory_path() / "mneme-test-XXXXXX").string();
  const std::filesystem::path directory = mkdtemp(name.data());
  std::vector<unsigned char> memory(10 * artifact::kChunkBytes + 77);
  std::mt19937_64 random(2);
  for (size_t at = artifact::kChunkBytes; at < memory.size(); ++at)
    memory[at] = static_cast<unsigned char>(random());
  artifact::Region region;
  region.address = reinterpret_cast<uint64_t>(memory.data());
  region.sizeBytes = memory.size();
  HostAccess access([](const Patience&) { return 0; });
  CaptureHistory history;
  {
    artifact::WriterOptions options;
    options.directory = directory;
    artifact::RecordingWriter writer(options);
    artifact::KernelRecord record;
    record.staticHash = 1;
    writer.addKernel(record, {});
    Capture capture(access, writer, history);
    artifact::InstanceDraft draft;
    draft.instance.dynamicHash = 2;
    draft.prologue = capture.take({region});
    memory[5 * artifact::kChunkBytes] ^= 1;
    draft.epilogue = capture.take({region});
    const auto copies = [](const artifact::SnapshotDraft& snapshot) {
      size_t count = 0;
      for (const auto& chunk : snapshot.regions.at(0).chunks)
        count += chunk.bytes.empty() ? 0 : 1;
      return count;
    };
    CHECK(draft.prologue.regions[0].chunks[0].isZero);
    CHECK(copies(draft.prologue) == 10);
    CHECK(copies(draft.epilogue) == 1);
    CHECK(draft.epilogue.regions[0].chunks.size() == 1);
    CHECK(draft.epilogue.regions[0].base->snapshot == draft.prologue.id);
    writer.submit(1, std::move(draft));
    writer.finish();
    CHECK(writer.statistics().losses.empty());
    Capture again(access, writer, history);
    const auto unchanged = again.take({region});
    CHECK(unchanged.regions.at(0).chunks.empty());
    CHECK(unchanged.regions.at(0).base->snapshot == 2);
    CaptureHistory none;
    Capture fresh(access, writer, none);
    CHECK(copies(fresh.take({region})) == 0); // the writer has it all
  }
  const auto epilogue = artifact::Snapshot::open(directory / "DeviceState.epilogue.1.2.mneme");
  std::vector<std::byte> content(memory.size());
  epilogue.read(0, 0, content);
  CHECK(std::equal(content.begin(), content.end(),
                   reinterpret_cast<const std::byte*>(memory.data())));
  std::filesystem::remove_all(directory);
}

} // namespace mneme::record::test
