#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <iterator>
#include <random>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"
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

/// Records without a checksum are read too: those of other tools have none.
Bytes withoutChecksum(const Bytes& json) {
  std::string text(reinterpret_cast<const char*>(json.data()), json.size());
  const size_t key = text.find("\"Checksum\"");
  return bytesOfText(key == std::string::npos ? text : text.replace(key, 10, "\"Cheque\""));
}

int roundsAsked(int standard) {
  const char* asked = std::getenv("MNEME_FUZZ_ROUNDS");
  return asked ? std::atoi(asked) : standard;
}

/// Valid files with senseless content.
RecordingPlan strangePlan(std::mt19937& random) {
  RecordingPlan plan = scalePlan(64);
  const auto oneIn = [&](unsigned n) { return random() % n == 0; };
  const auto anyAddress = [&]() -> uint64_t {
    const uint64_t known[] = {0,
                              1,
                              4096,
                              kScaleIn,
                              kScaleIn + 100,
                              kScaleOut - 8,
                              kScaleOut + 255,
                              UINT64_MAX,
                              UINT64_MAX - 4096,
                              1ull << 63,
                              0x7fff00000000,
                              reinterpret_cast<uint64_t>(&kScale),
                              kWindow + kWindowBytes - 16};
    return oneIn(3) ? (uint64_t(random()) << 32) | random() : known[random() % std::size(known)];
  };
  for (RegionPlan& region : plan.regions) {
    if (oneIn(8))
      region.region.address = anyAddress();
    if (oneIn(12))
      region.before.resize(random() % 300000);
    if (oneIn(12))
      region.after.resize(random() % 300000);
    if (oneIn(4))
      region.region.kind = static_cast<artifact::RegionKind>(random() % 4);
    if (oneIn(6))
      region.region.name = oneIn(2) ? "counter" : std::string("\x01\xff");
    if (oneIn(5))
      region.region.annotation = {.isSet = true,
                                  .dataType = static_cast<uint8_t>(random() % 20),
                                  .threshold = oneIn(2) ? 0.5 : std::nan(""),
                                  .thresholdKind = static_cast<uint8_t>(random() % 5),
                                  .norm = static_cast<uint8_t>(random() % 6),
                                  .tag = "tag"};
  }
  if (oneIn(8))
    plan.regions.push_back(plan.regions[random() % 2]);
  if (oneIn(4))
    plan.windowAddress = anyAddress();
  if (oneIn(4))
    plan.windowBytes = anyAddress();
  if (oneIn(6))
    plan.values[random() % plan.values.size()].resize(random() % 20);
  if (oneIn(6))
    plan.values.pop_back();
  if (oneIn(6))
    plan.args.clear();
  if (oneIn(8))
    plan.block.y = static_cast<uint32_t>(random());
  if (oneIn(4))
    plan.grid.z = static_cast<uint32_t>(random() % 3);
  return plan;
}

} // namespace

TEST_CASE("well-formed recordings of senseless memory are refused or replayed, never a crash") {
  std::mt19937 random(11);
  int opened = 0, executed = 0;
  const int rounds = roundsAsked(150);
  for (int round = 0; round < rounds; ++round) {
    TemporaryDirectory directory;
    try {
      const auto record = writeRecording(directory.path(), strangePlan(random));
      replay::Session session(record, "", "cpu");
      ++opened;
      replay::Configuration configuration = session.recorded();
      configuration.specialize = random() % 2;
      executed +=
          session.run(configuration, {.iterations = 1, .warmup = 0, .timeoutSeconds = 5}).executed;
    } catch (const Error& error) {
      CHECK(std::string(error.what()).size() > 10);
    }
  }
  MESSAGE(opened << " of " << rounds << " opened, " << executed << " ran");
}

TEST_CASE("mutated recordings are refused or replayed, never a crash") {
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), scalePlan(64));
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    files.push_back(entry.path());
  const int rounds = roundsAsked(300);
  std::mt19937 random(7);
  int opened = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto& victim = files[random() % files.size()];
    const Bytes original = readFile(victim);
    const bool isSigned = victim.extension() != ".json" || random() % 2;
    writeFileAtomically(victim, mutated(isSigned ? original : withoutChecksum(original), random));
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
