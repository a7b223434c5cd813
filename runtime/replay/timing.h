// Room replay: how many launches are measured, and what their times say.
//
// The time of a kernel is the median of its measured launches. Its confidence interval is that of
// order statistics: of n independent times, the j-th smallest and the j-th largest enclose the
// median with a probability given by the binomial distribution B(n, 1/2), whatever the distribution
// of the times (J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems,
// chapter 2; recommended for run times by T. Hoefler and R. Belli, Scientific Benchmarking of
// Parallel Computing Systems, SC15). At least 95 % need six times.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/replay/replay.h"

namespace mneme::replay {

struct Interval {
  uint64_t low = 0;
  uint64_t high = 0;
};

/// Measured times of one binary, in nanoseconds.
class TimeSample {
public:
  void add(uint64_t ns);
  size_t count() const noexcept { return times_.size(); }
  /// Between the two middle ones for an even number; 0 without times.
  uint64_t median() const;
  /// 95 %; nothing for fewer than six times.
  std::optional<Interval> interval() const;
  /// The shortest and the longest time; there has to be one.
  Interval range() const;

private:
  void sort() const;

  mutable std::vector<uint64_t> times_;
  mutable bool isSorted_ = true;
};

/// Decides after every launch whether another one is worth its time. Starts its clock when made.
class MeasuringPlan {
public:
  /// Launches as long as this are steady: a few of them say as much as many short ones.
  static constexpr uint64_t kLongNs = 1'000'000;

  explicit MeasuringPlan(const Options& options) : options_(options) {}

  /// A launch that is not measured: a warm-up, or one that was verified.
  void see(uint64_t ns);
  void measure(uint64_t ns);
  /// Measures a launch that was seen, and nothing more.
  void end(uint64_t ns);
  /// Whether warm-ups still make sense.
  bool wantsWarmups() const { return !isEnded_ && !isHopeless() && !isOutOfTime(); }
  /// False when there are enough measured launches, or there will be no more.
  bool wantsMore() const;
  /// The configuration is slower than Options::stopAboveNs: its interval lies above, or, with too
  /// few times for an interval, every launch took more than twice as long. Fewer long launches are
  /// enough: two that took 1.25 times as long, three with 1.1, four with 1.05, five with 1.02.
  bool isHopeless() const;
  const TimeSample& sample() const noexcept { return sample_; }

private:
  bool isOutOfTime() const;
  void evaluate();

  const Options& options_;
  TimeSample sample_;
  uint64_t fastest_ = UINT64_MAX; ///< of all launches
  size_t seen_ = 0;               ///< all launches
  size_t nextEvaluation_ = 0;     ///< rarer and rarer: what is known changes ever more slowly
  bool isSlow_ = false;
  bool isPrecise_ = false;
  bool isEnded_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace mneme::replay
