// Room replay: decides how many launches are measured, and evaluates their times.
//
// The time of a kernel is the median of its measured launches. Its confidence interval is that of
// order statistics: of n independent times, the j-th smallest and the j-th largest enclose the
// median with a probability given by the binomial distribution B(n, 1/2), whatever the distribution
// of the times (J.-Y. Le Boudec, Performance Evaluation of Computer and Communication Systems,
// chapter 2; recommended for run times by T. Hoefler and R. Belli, Scientific Benchmarking of
// Parallel Computing Systems, SC15). A probability of 95 % needs at least six times.
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
  /// The mean of the two middle times if their number is even; 0 without times.
  uint64_t median() const;
  /// The 95 % confidence interval of the median; nothing for fewer than six times.
  std::optional<Interval> interval() const;
  /// The shortest and the longest time. Requires at least one time.
  Interval range() const;

private:
  void sort() const;

  mutable std::vector<uint64_t> times_;
  mutable bool isSorted_ = true;
};

/// Decides after every launch whether another one is worth its time. The time budget starts when
/// the plan is made.
class MeasuringPlan {
public:
  /// Launches of at least this length vary little, so a few of them suffice.
  static constexpr uint64_t kLongNs = 1'000'000;

  explicit MeasuringPlan(const Options& options) : options_(options) {}

  /// Takes note of a launch that is not measured: a warm-up, or one that was verified.
  void see(uint64_t ns);
  /// Adds a measured launch.
  void measure(uint64_t ns);
  /// Ends the plan, with a launch that see() was called for as its last measured one.
  void end(uint64_t ns);
  /// Whether warm-ups still make sense.
  bool wantsWarmups() const { return !isEnded_ && !isHopeless() && !isOutOfTime(); }
  /// Whether to measure another launch: false when there are enough, or after end().
  bool wantsMore() const;
  /// Whether the configuration is slower than Options::stopAboveNs beyond doubt: its interval lies
  /// above or, while there are too few times for an interval, every launch took more than twice as
  /// long. Launches longer than kLongNs need less: two that took 1.25 times as long, three 1.1
  /// times, four 1.05 times or five 1.02 times.
  bool isHopeless() const;
  const TimeSample& sample() const noexcept { return sample_; }

private:
  bool isOutOfTime() const;
  void evaluate();

  const Options& options_;
  TimeSample sample_;
  uint64_t fastest_ = UINT64_MAX; ///< of all launches, measured or not
  size_t seen_ = 0;               ///< number of all launches, measured or not
  size_t nextEvaluation_ = 0;     ///< count of times at which to evaluate next, in growing steps
  bool isSlow_ = false;
  bool isPrecise_ = false;
  bool isEnded_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace mneme::replay
