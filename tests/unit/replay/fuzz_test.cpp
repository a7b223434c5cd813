#include <cstdlib>
#include <doctest/doctest.h>
#include <random>

#include "runtime/base/error.h"
#include "runtime/base/file.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;

namespace {

/// A few bits flipped, a piece cut out, or the tail lost.
Bytes mutated(Bytes bytes, std::mt19937& random) {
  const auto below = [&](size_t limit) { return random() % std::max<size_t>(limit, 1); };
  switch (random() % 4) {
  case 0:
    bytes.resize(below(bytes.size()));
    break;
  case 1: {
    const size_t begin = below(bytes.size());
    bytes.erase(bytes.begin() + begin,
                bytes.begin() + std::min(bytes.size(), begin + 1 + below(64)));
    break;
  }
  default:
    for (size_t i = 0, flips = 1 + below(8); i < flips && !bytes.empty(); ++i)
      bytes[below(bytes.size())] ^= std::byte(1u << below(8));
  }
  return bytes;
}

} // namespace

TEST_CASE("mutated recordings are refused or replayed, never a crash") {
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), scalePlan(64));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    files.push_back(entry.path());
  const char* asked = std::getenv("MNEME_FUZZ_ROUNDS");
  const int rounds = asked ? std::atoi(asked) : 300;
  std::mt19937 random(7);
  int opened = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto& victim = files[random() % files.size()];
    const Bytes original = readFile(victim);
    writeFileAtomically(victim, mutated(original, random));
    try {
      replay::Session session(record, "", "cpu");
      ++opened;
      session.run(session.recorded(), {.iterations = 1, .warmup = 0, .timeoutSeconds = 5});
    } catch (const Error& error) {
      CHECK(std::string(error.what()).size() > 10);
    }
    writeFileAtomically(victim, original);
  }
  MESSAGE(opened << " of " << rounds << " still opened");
  replay::Session session(record, "", "cpu");
  CHECK(session.run(session.recorded(), {}).verified);
}
