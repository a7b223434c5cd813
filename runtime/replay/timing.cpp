#include "runtime/replay/timing.h"

#include <algorithm>
#include <cmath>

namespace mneme::replay {

namespace {

constexpr size_t kSmallestInterval = 6;
/// From here on the normal distribution stands for the binomial one.
constexpr size_t kManyTimes = 100;
constexpr double kTail = 0.025;
/// Without an interval: how many times as long all of one, two, ... long launches have to take.
constexpr double kSurelySlower[] = {2.0, 1.25, 1.1, 1.05, 1.02};
/// So many long launches that hardly differ are precise, if whoever asks is content with so few.
constexpr size_t kFewest = 3;
constexpr double kNormalQuantile = 1.959963984540054;

/// Largest j such that fewer than j of n fair coins show heads with a probability of kTail at most:
/// the j-th smallest and the j-th largest time are the ends of the interval.
size_t rankOfBound(size_t n) {
  if (n >= kManyTimes) {
    const double count = static_cast<double>(n);
    return static_cast<size_t>((count - kNormalQuantile * std::sqrt(count)) / 2);
  }
  double probability = std::pow(0.5, static_cast<double>(n)), sum = 0;
  size_t rank = 0;
  for (; sum + probability <= kTail; ++rank) {
    sum += probability;
    probability *= static_cast<double>(n - rank) / static_cast<double>(rank + 1);
  }
  return rank;
}

} // namespace

void TimeSample::add(uint64_t ns) {
  isSorted_ = isSorted_ && (times_.empty() || times_.back() <= ns);
  times_.push_back(ns);
}

void TimeSample::sort() const {
  if (!isSorted_)
    std::sort(times_.begin(), times_.end());
  isSorted_ = true;
}

uint64_t TimeSample::median() const {
  sort();
  const size_t n = times_.size();
  if (n == 0)
    return 0;
  const uint64_t low = times_[(n - 1) / 2], high = times_[n / 2];
  return low + (high - low) / 2;
}

std::optional<Interval> TimeSample::interval() const {
  const size_t n = times_.size();
  if (n < kSmallestInterval)
    return std::nullopt;
  sort();
  const size_t rank = rankOfBound(n);
  return Interval{times_[rank - 1], times_[n - rank]};
}

Interval TimeSample::range() const {
  sort();
  return {times_.front(), times_.back()};
}

void MeasuringPlan::see(uint64_t ns) {
  fastest_ = std::min(fastest_, ns);
  ++seen_;
}

void MeasuringPlan::end(uint64_t ns) {
  sample_.add(ns);
  isEnded_ = true;
}

void MeasuringPlan::measure(uint64_t ns) {
  see(ns);
  sample_.add(ns);
  const bool isAsked = options_.confidence > 0 || options_.stopAboveNs > 0;
  if (isAsked && sample_.count() >= nextEvaluation_)
    evaluate();
}

void MeasuringPlan::evaluate() {
  nextEvaluation_ = sample_.count() + 1 + sample_.count() / 20;
  const auto interval = sample_.interval();
  const Interval ends = interval ? *interval : sample_.range();
  if (!interval && (sample_.count() < kFewest || ends.low < kLongNs))
    return;
  isSlow_ = ends.low > options_.stopAboveNs;
  const double width = static_cast<double>(ends.high - ends.low);
  isPrecise_ = width / 2 <= options_.confidence * static_cast<double>(sample_.median());
}

bool MeasuringPlan::isOutOfTime() const {
  return options_.timeBudgetSeconds > 0 &&
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >
             options_.timeBudgetSeconds;
}

bool MeasuringPlan::isHopeless() const {
  if (options_.stopAboveNs == 0)
    return false;
  if (sample_.count() >= kSmallestInterval)
    return isSlow_;
  if (seen_ == 0)
    return false;
  const size_t longOnes = fastest_ < kLongNs ? 1 : std::min(seen_, std::size(kSurelySlower));
  return static_cast<double>(fastest_) / kSurelySlower[longOnes - 1] >
         static_cast<double>(options_.stopAboveNs);
}

bool MeasuringPlan::wantsMore() const {
  const bool isAdaptive = options_.confidence > 0;
  const size_t least =
      isAdaptive && options_.minIterations > 0 ? options_.minIterations : options_.iterations;
  if (isEnded_)
    return false;
  if (sample_.count() == 0)
    return least > 0 || isAdaptive;
  if (isHopeless() || isOutOfTime())
    return false;
  if (!isAdaptive)
    return sample_.count() < options_.iterations;
  if (sample_.count() >= options_.maxIterations)
    return false;
  return sample_.count() < least || !isPrecise_;
}

} // namespace mneme::replay
