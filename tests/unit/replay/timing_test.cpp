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

TEST_CASE("a few long launches say what it takes many short ones to say") {
  constexpr uint64_t kMs = 1'000'000;
  const auto launchesUntilHopeless = [](uint64_t ns, uint64_t limit) {
    const Options options{.iterations = 50, .stopAboveNs = limit};
    MeasuringPlan plan(options);
    while (plan.wantsMore())
      plan.measure(ns);
    return plan.isHopeless() ? plan.sample().count() : 0;
  };
  CHECK(launchesUntilHopeless(30 * kMs, 14 * kMs) == 1);
  CHECK(launchesUntilHopeless(18 * kMs, 14 * kMs) == 2);
  CHECK(launchesUntilHopeless(16 * kMs, 14 * kMs) == 3);
  CHECK(launchesUntilHopeless(15 * kMs, 14 * kMs) == 4);
  CHECK(launchesUntilHopeless(18'000, 14'000) == 6);
  CHECK(launchesUntilHopeless(14 * kMs, 14 * kMs) == 0);
  const Options options{.confidence = 0.01, .minIterations = 3, .maxIterations = 50};
  MeasuringPlan steady(options), noisy(options), brief(options);
  while (steady.wantsMore())
    steady.measure(14 * kMs);
  CHECK(steady.sample().count() == 3);
  while (brief.wantsMore())
    brief.measure(14'000);
  CHECK(brief.sample().count() == 6);
  for (uint64_t i = 0; noisy.wantsMore(); ++i)
    noisy.measure((14 + i % 2) * kMs);
  CHECK(noisy.sample().count() == 50);
}

TEST_CASE("the launch that is verified is a warm-up, or all that a hopeless one costs") {
  TemporaryDirectory directory;
  Session session(writeRecording(directory.path(), scalePlan()), "", testDevice());
  const Result warm = session.run(session.recorded(), {.iterations = 3, .warmup = 2});
  CHECK(warm.execNs.size() == 5);
  CHECK(warm.launches == 5);
  const Result cold = session.run(session.recorded(), {.iterations = 3, .warmup = 0});
  CHECK(cold.execNs.size() == 3);
  CHECK(cold.launches >= 3); // a short one's first launch is not measured
  CHECK(cold.launches <= 4);
  const Result slow =
      session.run(session.recorded(), {.iterations = 50, .warmup = 2, .stopAboveNs = 1});
  CHECK(slow.verified);
  CHECK(slow.launches == 1);
  CHECK(slow.isStoppedEarly);
  CHECK(slow.iterationsUsed == 1);
  CHECK(slow.medianNs == slow.launchedNs);
  CHECK(session.run(session.recorded(), {.iterations = 0, .warmup = 0}).execNs.empty());
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
  // Six, but on a busy machine launches are long, and three of those are enough.
  CHECK(adaptive.iterationsUsed >= 3);
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
