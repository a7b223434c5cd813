#include <doctest/doctest.h>

#include "runtime/core/artifact/snapshot.h"
#include "runtime/core/base/error.h"
#include "runtime/replay/trim.h"
#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::Pattern;
using replay::ResultClass;

namespace {

constexpr Pattern kAll[] = {Pattern::Zero, Pattern::Small, Pattern::Large};

/// A session on a recording, and trials with it.
struct Trials {
  Trials(const std::filesystem::path& record, uint64_t goldenBytes)
      : session(record, "", testDevice(), {.goldenBytesLimit = goldenBytes}),
        trim(session, session.recorded(), 30) {}

  bool isSame(uint64_t address, uint64_t sizeBytes, Pattern pattern, bool isNoted = false) {
    const replay::Fill fill{address, sizeBytes, pattern};
    return trim.trial({&fill, 1}, isNoted ? std::optional(pattern) : std::optional<Pattern>())
        .difference.empty();
  }

  replay::Session session;
  replay::Trim trim;
};

ResultClass replayed(const std::filesystem::path& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == ".json") {
      replay::Session session(entry.path(), "", testDevice());
      return session.run(session.recorded(), {}).resultClass;
    }
  return ResultClass::Failed;
}

artifact::KernelRecord recordIn(const std::filesystem::path& directory) {
  return artifact::KernelRecord::load(directory / (std::to_string(kStaticHash) + ".json"));
}

} // namespace

TEST_CASE("trials tell what is read, with and without copies on the device") {
  TemporaryDirectory directory;
  const auto record = writeRecording(directory.path(), scalePlan(100'000));
  for (const uint64_t goldenBytes : {UINT64_MAX, uint64_t{0}}) {
    CAPTURE(goldenBytes);
    Trials trials(record, goldenBytes);
    CHECK(trials.trim.takeReference(trials.session.recorded().grid).refusal == "");
    for (const Pattern pattern : kAll) {
      CAPTURE(int(pattern));
      CHECK(trials.isSame(kScaleOut, 400'000, pattern));
      CHECK_FALSE(trials.isSame(kScaleIn + 65536, 65536, pattern));
      CHECK_FALSE(trials.isSame(kScaleIn + 1000, 8, pattern));
      CHECK(trials.isSame(kScaleOut + 5, 70'001, pattern));
    }
    CHECK_THROWS_AS(trials.isSame(kScaleIn, 400'001, Pattern::Zero), Error);
  }
}

TEST_CASE("what is written without what is not read replays exactly") {
  TemporaryDirectory directory, output;
  const auto record = writeRecording(directory.path(), scalePlan(100'000));
  {
    Trials trials(record, UINT64_MAX);
    const artifact::Dim3 whole = trials.session.recorded().grid;
    REQUIRE(trials.trim.takeReference(whole).refusal == "");
    REQUIRE(trials.isSame(kScaleOut, 400'000, Pattern::Small, true));
    REQUIRE(trials.isSame(kScaleOut, 400'000, Pattern::Large, true));
    CHECK(trials.trim.doNotesAgree());
    CHECK(trials.trim.untouched().empty());
    trials.trim.write(output.path(), {.unread = {{kScaleOut, 400'000}}, .unallocated = {}});
  }
  CHECK(replayed(output.path()) == ResultClass::Exact);
  const artifact::KernelRecord written = recordIn(output.path());
  REQUIRE(written.instances.size() == 1);
  const artifact::Instance& instance = written.instances.at(kDynamicHash);
  REQUIRE(instance.trimming);
  CHECK(instance.trimming->memoryBytes == 800'000);
  CHECK(instance.trimming->unreadBytes == 400'000);
}

TEST_CASE("a smaller grid stands for itself, and half of the memory is not allocated") {
  TemporaryDirectory directory, output;
  const auto record = writeRecording(directory.path(), scalePlan(100'000));
  {
    Trials trials(record, UINT64_MAX);
    REQUIRE(trials.trim.takeReference(trials.session.recorded().grid).refusal == "");
    REQUIRE(trials.trim.takeReference({1, 1, 1}).refusal == "");
    const uint64_t from = 4 * 65536, size = 400'000 - from;
    for (const Pattern pattern : {Pattern::Small, Pattern::Large}) {
      const replay::Fill fills[] = {{kScaleIn + from, size, pattern},
                                    {kScaleOut, 400'000, pattern}};
      REQUIRE(trials.trim.trial(fills, pattern).difference == "");
    }
    const auto untouched = trials.trim.untouched();
    REQUIRE(untouched.size() == 2);
    CHECK(untouched[0].offset == kScaleIn + from);
    CHECK(untouched[0].sizeBytes == size);
    CHECK_THROWS_AS(trials.trim.write(output.path(), {.unread = {{kScaleIn + from, size}},
                                                      .unallocated = {{kScaleIn + 1, size - 1}}}),
                    Error);
    trials.trim.write(output.path(),
                      {.unread = {{kScaleIn + from, size}, {kScaleOut, 400'000}},
                       .unallocated = {{kScaleIn + from, size}, {kScaleOut + from, size}}});
  }
  CHECK(replayed(output.path()) == ResultClass::Exact);
  const artifact::KernelRecord written = recordIn(output.path());
  REQUIRE(written.instances.size() == 1);
  const artifact::Instance& instance = written.instances.begin()->second;
  CHECK(instance.dynamicHash != kDynamicHash);
  CHECK(instance.grid.x == 1);
  REQUIRE(instance.trimming);
  CHECK(instance.trimming->dynamicHash == kDynamicHash);
  const auto prologue = artifact::Snapshot::open(output.path() / instance.prologue);
  for (const artifact::Region& region : prologue.regions())
    CHECK(region.sizeBytes == 4 * 65536);
}

TEST_CASE("a smaller grid of a sum over all blocks is refused") {
  TemporaryDirectory directory;
  RecordingPlan plan{.kernel = "atomicSum", .ir = kAtomicSum, .grid = {64}, .block = {4}};
  plan.addRegion(kScaleIn, bytesOf(std::vector<float>(256, 1.0F)),
                 bytesOf(std::vector<float>(256, 1.0F)));
  plan.addRegion(kScaleOut, bytesOfOne(0.0F), bytesOfOne(256.0F));
  plan.addPointer("in", kScaleIn);
  plan.addPointer("sum", kScaleOut);
  Trials trials(writeRecording(directory.path(), plan), UINT64_MAX);
  REQUIRE(trials.trim.takeReference({64, 1, 1}).refusal == "");
  for (const uint32_t blocks : {1u, 2u, 32u, 63u})
    CHECK(trials.trim.takeReference({blocks, 1, 1}).refusal != "");
  // A sum that swallows a tiny number, and that a huge one would swallow.
  REQUIRE(trials.trim.takeReference({64, 1, 1}).refusal == "");
  CHECK_FALSE(trials.isSame(kScaleOut, 4, Pattern::Large));
}
