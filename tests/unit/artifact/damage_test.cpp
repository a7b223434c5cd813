// Truncations and bit flips of every file: an error that names the file, or the right content.
#include <fstream>
#include <random>

#include <doctest/doctest.h>

#include "runtime/core/artifact/directory.h"
#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
#include "tests/unit/artifact/fixtures.h"

namespace mneme::artifact::test {
namespace {

/// Everything a reader can learn from a recording, as one text.
std::string readEverything(const std::filesystem::path& directory) {
  const KernelRecord record = KernelRecord::load(directory / "1.json");
  std::string all = record.toJson();
  for (size_t index = 0; index < record.modules.size(); ++index)
    all += toHex(hash128(record.readModule(directory, index)));
  for (const auto& [hash, instance] : record.instances)
    for (const std::string& name : {instance.prologue, instance.epilogue}) {
      const Snapshot snapshot = Snapshot::open(directory / name);
      snapshot.verifyAll();
      all += toHex(hash128(contentOf(directory / name)));
      for (const auto& arg : snapshot.args())
        all += toHex(hash128(arg));
    }
  return all;
}

} // namespace

TEST_CASE("a damaged recording is refused or reads as it was") {
  const TemporaryDirectory directory;
  Bytes before = noise(2 * kChunkBytes, 1);
  before.resize(before.size() + 1000); // a tail that compresses
  Bytes after = before;
  after[3] ^= std::byte{1};
  writeSmallRecording(directory.path(), 1, 2, before, after);
  const std::string whole = readEverything(directory.path());
  std::mt19937_64 random(5);
  size_t refused = 0;
  for (const auto& file : filesIn(directory.path())) {
    const Bytes original = readFile(file);
    for (int round = 0; round < 300; ++round) {
      Bytes damaged = original;
      if (round % 3 == 0)
        damaged.resize(random() % damaged.size());
      else
        // Tables lie at the end: half of the flips go there.
        damaged[damaged.size() - 1 -
                random() % (round % 2 ? std::min<size_t>(damaged.size(), 600) : damaged.size())] ^=
            static_cast<std::byte>(1u << random() % 8);
      std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char*>(damaged.data()),
                 static_cast<std::streamsize>(damaged.size()));
      try {
        const std::string readAgain = readEverything(directory.path());
        CHECK(readAgain == whole);
      } catch (const Error& error) {
        ++refused;
        CHECK(std::string(error.what()).find(directory.path().string()) != std::string::npos);
      }
    }
    writeFileAtomically(file, original);
  }
  CHECK(refused > 1100);
  CHECK(readEverything(directory.path()) == whole);
}

} // namespace mneme::artifact::test
