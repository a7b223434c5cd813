#include <doctest/doctest.h>
#include <random>

#include "runtime/replay/timing.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::replay;
using namespace mneme::test;

namespace {

TimeSample sampleOf(std::initializer_list<uint64_t> times) {
  TimeSample sample;
  for (uint64_t time : times)
    sample.add(time);
  return sample;
}

} // namespace

TEST_CASE("the median lies in the middle of the times") {
  CHECK(sampleOf({}).median() == 0);
  CHECK(sampleOf({7}).median() == 7);
  CHECK(sampleOf({9, 1, 5}).median() == 5);
  CHECK(sampleOf({4, 1, 2, 9}).median() == 3);
}

TEST_CASE("the interval needs six times and then takes the binomial ranks") {
  CHECK_FALSE(sampleOf({1, 2, 3, 4, 5}).interval());
  const auto six = sampleOf({3, 1, 2, 6, 5, 4}).interval();
  REQUIRE(six);
  CHECK(six->low == 1);
  CHECK(six->high == 6);
  // Ranks of published tables: 9 times 2 and 8, 20 times 6 and 15, 70 times 27 and 44.
  for (const auto& [n, low, high] : {std::tuple{9, 2, 8}, {20, 6, 15}, {70, 27, 44}}) {
    TimeSample sample;
    for (int i = 1; i <= n; ++i)
      sample.add(i);
    CHECK(sample.interval()->low == uint64_t(low));
    CHECK(sample.interval()->high == uint64_t(high));
  }
}

TEST_CASE("the interval holds the median in about 95 of 100 experiments") {
  std::mt19937 random(7);
  std::exponential_distribution<double> noise(1.0 / 500);
  for (const int n : {8, 30, 150}) {
    int held = 0;
    constexpr int kExperiments = 2000;
    for (int i = 0; i < kExperiments; ++i) {
      TimeSample sample;
      for (int k = 0; k < n; ++k)
        sample.add(static_cast<uint64_t>(10'000 + noise(random)));
      const double truth = 10'000 + 500 * std::log(2.0);
      const auto interval = sample.interval();
      held += double(interval->low) <= truth && truth <= double(interval->high) + 1;
    }
    CAPTURE(n);
    CHECK(held > kExperiments * 93 / 100);
  }
}

TEST_CASE("steady times end an adaptive measurement, noisy ones go on to the limit") {
  const Options options{.confidence = 0.01, .minIterations = 8, .maxIterations = 50};
  MeasuringPlan steady(options);
  while (steady.wantsMore())
    steady.measure(1000);
  CHECK(steady.sample().count() == 8);
  MeasuringPlan noisy(options);
  for (uint64_t i = 0; noisy.wantsMore(); ++i)
    noisy.measure(1000 + 500 * (i % 2));
  CHECK(noisy.sample().count() == 50);
}

TEST_CASE("hopeless configurations stop") {
  const Options options{.iterations = 100, .stopAboveNs = 1000};
  MeasuringPlan slow(options);
  slow.see(2500);
  CHECK_FALSE(slow.wantsWarmups());
  CHECK(slow.wantsMore()); // one time at least
  slow.measure(2400);
  CHECK_FALSE(slow.wantsMore());
  MeasuringPlan close(options);
  while (close.wantsMore())
    close.measure(1100);
  CHECK(close.sample().count() == 6);
  CHECK(close.isHopeless());
  MeasuringPlan good(options);
  while (good.wantsMore())
    good.measure(990);
  CHECK(good.sample().count() == 100);
}

TEST_CASE("fixed iterations stay exact, and results say how they were measured") {
  TemporaryDirectory directory;
  Session session(writeRecording(directory.path(), scalePlan()), "", testDevice());
  const Result fixed = session.run(session.recorded(), {.iterations = 7, .warmup = 1});
  CHECK(fixed.execNs.size() == 8);
  CHECK(fixed.iterationsUsed == 7);
  CHECK((fixed.timer == "host clock") == (testDevice() == "cpu"));
  CHECK(fixed.ciNs.size() == 2);
  CHECK(fixed.medianNs >= fixed.ciNs[0]);
  CHECK(fixed.medianNs <= fixed.ciNs[1]);
  CHECK_FALSE(fixed.isColdCache);
  const Result adaptive = session.run(
      session.recorded(), {.warmup = 0, .coldCache = true, .confidence = 0.5, .maxIterations = 40});
  CHECK(adaptive.iterationsUsed >= 6);
  CHECK(adaptive.iterationsUsed <= 40);
  CHECK(adaptive.execNs.size() == adaptive.iterationsUsed);
  CHECK(adaptive.isColdCache);
  const Result stopped = session.run(session.recorded(), {.iterations = 1000, .stopAboveNs = 1});
  CHECK(stopped.isStoppedEarly);
  CHECK(stopped.iterationsUsed == 1);
  CHECK(stopped.verified);
  const Result brief =
      session.run(session.recorded(), {.iterations = 100'000'000, .timeBudgetSeconds = 0.05});
  CHECK(brief.iterationsUsed >= 1);
  CHECK(brief.iterationsUsed < 100'000'000);
}
