#include "runtime/replay/timing.h"

#include <algorithm>
#include <cmath>

namespace mneme::replay {

namespace {

/// With fewer times there is no 95 % interval: the median lies outside the range of five times with
/// a probability of 1/16.
constexpr size_t kSmallestInterval = 6;
/// From this number of times on, the normal distribution approximates the binomial one.
constexpr size_t kNormalFrom = 100;
/// The probability that the median lies below a 95 % interval, and that it lies above.
constexpr double kTail = 0.025;
/// The 1 - kTail quantile of the standard normal distribution.
constexpr double kNormalQuantile = 1.959963984540054;
/// Entry n-1 is for n long launches, too few for an interval: a configuration is given up if each
/// of them took this many times as long as Options::stopAboveNs.
constexpr double kHopelessRatio[] = {2.0, 1.25, 1.1, 1.05, 1.02};
/// With at least this many long launches their range is used where there is no interval yet.
constexpr size_t kFewestForRange = 3;

/// Returns the rank of the ends of the interval of n times: its ends are the rank-th smallest and
/// the rank-th largest time. It is the largest rank for which fewer than rank of n fair coins show
/// heads with a probability of at most kTail.
size_t rankOfBound(size_t n) {
  if (n >= kNormalFrom) {
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
  const bool isEvaluated = options_.confidence > 0 || options_.stopAboveNs > 0;
  if (isEvaluated && sample_.count() >= nextEvaluation_)
    evaluate();
}

void MeasuringPlan::evaluate() {
  nextEvaluation_ = sample_.count() + 1 + sample_.count() / 20;
  const auto interval = sample_.interval();
  const Interval ends = interval ? *interval : sample_.range();
  // A few long launches are steady enough; a few short ones say nothing.
  if (!interval && (sample_.count() < kFewestForRange || ends.low < kLongNs))
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
  // Short launches vary so much that even several of them count as one.
  const size_t counted = fastest_ < kLongNs ? 1 : std::min(seen_, std::size(kHopelessRatio));
  return static_cast<double>(fastest_) / kHopelessRatio[counted - 1] >
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
