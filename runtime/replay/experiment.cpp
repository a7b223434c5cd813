#include "runtime/replay/experiment.h"

#include <algorithm>
#include <chrono>

#include "runtime/core/artifact/recorded_reads.h"
#include "runtime/core/base/error.h"
#include "runtime/replay/build_licence.h"

namespace mneme::replay {

namespace {

/// Runs of one binary that are compared to distinguish wrong from nondeterministic results.
constexpr int kRepetitions = 4;
/// Fewer if they take longer than this.
constexpr uint64_t kRepetitionNs = 500'000'000;
constexpr size_t kMaxMismatches = 64;
/// Launches that are queued in a row at most, of kernels below this.
constexpr uint32_t kSeries = 50;
constexpr uint64_t kShortNs = 500'000;
/// Launches on restored memory and in place whose times are compared.
constexpr int kProbes = 5;
/// Content that takes long to replace is restored instead.
constexpr uint64_t kMostDisturbed = 32 << 20;

/// Adds the time until its end to `total`.
class Stopwatch {
public:
  explicit Stopwatch(double& total) : total_(total) {}
  Stopwatch(const Stopwatch&) = delete;
  ~Stopwatch() {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

constexpr double kLeastTimeoutSeconds = 60;
constexpr double kTimesRecorded = 1000;
/// A GPU is that much faster than a processor at what GPUs are good at, and then some.
constexpr double kTimesRecordedElsewhere = 100'000;

} // namespace

double defaultTimeoutSeconds(uint64_t recordedNs, bool isOtherKind) noexcept {
  const double recordedSeconds = static_cast<double>(recordedNs) * 1e-9;
  return std::max(kLeastTimeoutSeconds,
                  recordedSeconds * (isOtherKind ? kTimesRecordedElsewhere : kTimesRecorded));
}

void Experiment::perform() {
  if (!bench_.device.isUsable())
    throw Error(ErrorCode::DeviceFailed,
                "device " + bench_.device.description().id +
                    " cannot be used any more in this process after an earlier failure; start a "
                    "new process");
  shape_ = launchShape(bench_.instance, configuration_);
  const device::Description limits = limitsOf(bench_.device, bench_.record);
  device::checkShape(limits, shape_, 0);
  build();
  device::checkShape(limits, shape_, module_->attributes().staticSharedBytes);
  checkArguments();
  verifier_ = std::make_unique<Verifier>(bench_.device, bench_.image, bench_.labels, bench_.types,
                                         options_.tolerances);
  judge();
  if (options_.probesInPlace)
    return probeInPlace();
  measure();
  if (!options_.counters.empty() && result_.resultClass != ResultClass::Wrong)
    readCounters();
}

void Experiment::build() {
  bool isKnown = true;
  const auto request = [&] {
    isKnown = false;
    return makeRequest(bench_.record, bench_.modules, bench_.values,
                       codeTargetOf(bench_.device, bench_.image), configuration_, options_);
  };
  const std::shared_ptr<const compile::Result> built =
      bench_.cache.build(bench_.record, bench_.modules, configuration_, options_, request);
  readStatistics(built->statisticsJson, result_);
  result_.isCodeFromCache = isKnown || built->isFromCache;
  dropRecordedReads(result_.unrecordedReads, bench_.record.device);
  std::erase_if(result_.unrecordedReads,
                [&](const std::string& read) { return bench_.textures.holds(read); });
  if (bench_.image.isHeapLost())
    result_.unrecordedReads.emplace_back(read_words::kHeap);
  result_.ir = built->ir;
  result_.assembly = built->assembly;
  if (result_.objectBytes == 0)
    result_.objectBytes = built->image.size();
  module_ = bench_.cache.load(built->image);
  const device::KernelAttributes attributes = module_->attributes();
  result_.registers = std::max(result_.registers, attributes.registers);
  result_.localBytes = std::max(result_.localBytes, attributes.localBytes);
  result_.constBytes = std::max(result_.constBytes, attributes.constantBytes);
  result_.sharedBytes = attributes.staticSharedBytes;
}

void Experiment::checkArguments() const {
  const std::optional<std::vector<uint64_t>> known = module_->argumentSizes();
  if (!known) // the recorded ones are those of the same kernel
    return;
  const std::vector<uint64_t>& sizes = *known;
  const auto& values = bench_.values;
  if (sizes.size() != values.size())
    throw Error(ErrorCode::InvalidArgument, "the kernel in the IR takes " +
                                                std::to_string(sizes.size()) + " arguments but " +
                                                std::to_string(values.size()) + " were recorded");
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != values[i].size())
      throw Error(ErrorCode::InvalidArgument,
                  "argument " + std::to_string(i) + " has " + std::to_string(sizes[i]) +
                      " bytes in the IR but " + std::to_string(values[i].size()) +
                      " were recorded");
}

void Experiment::restore(bool everything, bool isTimed) {
  bench_.device.resetHeap();
  const bool isNeeded = everything || !bench_.isMemoryTrusted || !bench_.isMemoryFresh;
  if (isNeeded) {
    double ignored = 0;
    Stopwatch watch(isTimed ? timedRestoreSeconds_ : ignored);
    if (everything || !bench_.isMemoryTrusted)
      bench_.image.restoreAll();
    else
      bench_.image.restoreChanged();
    if (isTimed)
      bench_.image.waitForRestore();
    timedRestores_ += isTimed;
    ++restores_;
  }
  bench_.textures.load();
  bench_.isMemoryTrusted = true;
  bench_.isMemoryFresh = false;
}

double Experiment::timeoutSeconds() const {
  if (options_.timeoutSeconds > 0)
    return options_.timeoutSeconds;
  const bool isOnCpu = bench_.device.description().target.starts_with("cpu");
  return defaultTimeoutSeconds(bench_.instance.recordedNs,
                               isOnCpu && bench_.record.device != "cpu");
}

uint64_t Experiment::launch() {
  if (options_.coldCache)
    bench_.device.flushCaches();
  return launchOnly();
}

uint64_t Experiment::launchOnly() {
  if (args_.empty())
    for (const std::vector<std::byte>& value : bench_.values)
      args_.push_back(const_cast<std::byte*>(value.data()));
  const uint64_t ns = bench_.device.launch(*module_, shape_, args_.data(), timeoutSeconds());
  ++result_.launches;
  result_.launchedNs += ns;
  return ns;
}

uint64_t Experiment::measuredLaunch(bool everything) {
  // The first is timed to its end; the others may overlap with what the host does next.
  if (everything || !options_.inPlace)
    restore(everything, /*isTimed=*/result_.execNs.empty());
  else
    bench_.device.resetHeap();
  result_.execNs.push_back(launch());
  return result_.execNs.back();
}

/// Whether the kernel is so short that launching it takes about as long as running it.
bool Experiment::mayBeInSeries(const MeasuringPlan& plan, bool everything) const {
  return options_.inSeries && options_.confidence == 0 && !options_.coldCache && !everything &&
         !result_.execNs.empty() && std::ranges::min(result_.execNs) < kShortNs &&
         plan.sample().count() + 1 < options_.iterations;
}

void Experiment::measuredSeries(MeasuringPlan& plan) {
  const uint32_t left = options_.iterations - static_cast<uint32_t>(plan.sample().count());
  const std::vector<uint64_t> times = bench_.device.launchSeries(
      *module_, shape_, args_.data(), timeoutSeconds(), std::min(left, kSeries), [&] {
        if (options_.inPlace)
          bench_.device.resetHeap();
        else
          restore(false, false);
      });
  for (const uint64_t ns : times) {
    ++result_.launches;
    result_.launchedNs += ns;
    result_.execNs.push_back(ns);
    plan.measure(ns);
  }
}

Verdict Experiment::runAndVerify(bool everything) {
  restore(everything, /*isTimed=*/true);
  return launchAndVerify();
}

Verdict Experiment::launchAndVerify() {
  judgedNs_.push_back(launch());
  result_.executed = true;
  Stopwatch watch(result_.verifySeconds);
  bench_.textures.store();
  Verdict verdict = verifier_->verify();
  for (const Finding& finding : verdict.findings)
    if (finding.site != kNone)
      bench_.image.suspect(finding.site);
  if (verdict.hasStray())
    bench_.isMemoryTrusted = false;
  return verdict;
}

void Experiment::judge() {
  // An earlier binary may have written to memory that was not compared. So before a binary is
  // blamed, it runs again on completely restored memory.
  const bool isWhole = bench_.isMemoryFresh || !bench_.isMemoryTrusted;
  Verdict first = runAndVerify(/*everything=*/false);
  const bool isEnough = first.isExact() || (first.isAccepted() && !options_.classifyWrong);
  if (!isEnough && !isWhole) {
    judgedNs_.clear();
    first = runAndVerify(/*everything=*/true);
  }
  if (!first.isExact())
    return judgeInexact(first);
  result_.resultClass = ResultClass::Exact;
  result_.verified = true;
}

void Experiment::judgeInexact(const Verdict& first) {
  Verdict widest = first;
  bool isAccepted = first.isAccepted();
  std::vector<bool> isVarying(bench_.image.sites().size());
  if (options_.classifyWrong)
    isAccepted = repeat(first, widest, isVarying) && isAccepted;
  report(widest);
  result_.verified = isAccepted;
  const bool hasVaried = std::find(isVarying.begin(), isVarying.end(), true) != isVarying.end();
  result_.resultClass = classOf(widest, isAccepted, hasVaried);
  if (!isAccepted)
    explain(widest, hasVaried);
}

ResultClass Experiment::classOf(const Verdict& verdict, bool isAccepted, bool isVarying) const {
  if (isVarying || (!isAccepted && dependsOnOrder(verdict)))
    return ResultClass::Nondeterministic;
  if (isAccepted)
    return ResultClass::WithinTolerance;
  if (!result_.unrecordedReads.empty())
    return ResultClass::Unreproducible;
  const bool isFew =
      std::all_of(verdict.findings.begin(), verdict.findings.end(), [](const Finding& finding) {
        return finding.report.isAccepted || isFewUlp(finding);
      });
  return isFew ? ResultClass::FewUlp : ResultClass::Wrong;
}

/// Whether all that is not accepted are sums by atomics, off by no more than rounding: a few
/// replays may add up in the same order by chance.
bool Experiment::dependsOnOrder(const Verdict& verdict) const {
  return isRoundingSmall(result_) &&
         std::all_of(verdict.findings.begin(), verdict.findings.end(), [](const Finding& finding) {
           return finding.report.isAccepted || finding.isUnordered;
         });
}

/// Says what would accept all that differs, if anything does, and why it differs.
void Experiment::explain(const Verdict& verdict, bool isVarying) {
  BuildLicence licence = licenceOf(bench_.record.optionsJson);
  licence.isLinked = bench_.record.modules.size() > 1;
  const bool isWrong = result_.resultClass == ResultClass::Wrong;
  const bool isFew = result_.resultClass == ResultClass::FewUlp;
  result_.isRounding = isWrong && mayBeRounding(licence, result_);
  bool isAcceptable = true;
  for (const Finding& finding : verdict.findings) {
    if (finding.report.isAccepted)
      continue;
    std::string rule;
    if (isFew)
      rule = verifier_->suggestUlp(finding);
    else if (result_.isRounding || result_.resultClass == ResultClass::Nondeterministic)
      rule = verifier_->suggest(finding);
    isAcceptable = isAcceptable && !rule.empty();
    result_.suggestion += (result_.suggestion.empty() ? "" : " ") + rule;
  }
  if (!isAcceptable)
    result_.suggestion.clear();
  result_.note =
      isWrong ? explainWrong(licence, result_, configuration_.passes, configuration_.codegenOpt)
              : noteOn(verdict, isVarying);
}

std::string Experiment::noteOn(const Verdict& verdict, bool isVarying) const {
  if (result_.resultClass == ResultClass::FewUlp)
    return explainFewUlp(result_);
  const std::string reads = explainReads(result_.unrecordedReads);
  if (result_.resultClass != ResultClass::Nondeterministic)
    return reads;
  const bool hasSums = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                   [](const Finding& finding) { return finding.isUnordered; });
  return explainOrder(hasSums, isVarying, result_) + (reads.empty() ? "" : " ") + reads;
}

/// Runs until a site varies, or it is clear that none does; false if a verdict was not accepted.
bool Experiment::repeat(const Verdict& first, Verdict& widest, std::vector<bool>& isVarying) {
  bool isAccepted = true;
  const auto hasVaried = [&] {
    return std::find(isVarying.begin(), isVarying.end(), true) != isVarying.end();
  };
  const auto firstHashes = verifier_->hashSites(first);
  const uint64_t budgetNs = result_.launchedNs + kRepetitionNs;
  for (int i = 1; i < kRepetitions && !hasVaried() && (i == 1 || result_.launchedNs < budgetNs);
       ++i) {
    // Where nothing else disturbs the order of blocks, it would be the same every time.
    shape_.isReversed = i % 2 != 0;
    const Verdict next = runAndVerify(/*everything=*/true);
    isAccepted = isAccepted && next.isAccepted();
    const auto hashes = verifier_->hashSites(first);
    for (size_t site = 0; site < hashes.size(); ++site)
      if (hashes[site] != firstHashes[site])
        isVarying[site] = true;
    for (const Finding& finding : next.findings)
      if (!widest.merge(finding) && finding.site != kNone)
        isVarying[finding.site] = true; // the first run had it as recorded
  }
  shape_.isReversed = false;
  return isAccepted;
}

void Experiment::report(const Verdict& verdict) {
  for (const Finding& finding : verdict.findings) {
    result_.maxUlp = std::max(result_.maxUlp, finding.distance.maxUlp);
    result_.maxRelative = std::max(result_.maxRelative, finding.distance.maxRelative);
    result_.maxAbsolute = std::max(result_.maxAbsolute, finding.distance.maxAbsolute);
    if (finding.report.isAccepted)
      continue;
    if (result_.mismatches.size() < kMaxMismatches)
      result_.mismatches.push_back(verifier_->describe(finding));
  }
}

/// Enters the verified launches where measured ones would be.
void Experiment::useJudged(MeasuringPlan& plan) {
  for (const uint64_t ns : judgedNs_)
    plan.see(ns);
  const bool isUseless = !result_.verified && result_.resultClass != ResultClass::FewUlp;
  const bool isOver = plan.isHopeless() || (isUseless && !options_.classifyWrong);
  if (isOver && plan.wantsMore()) {
    result_.execNs.push_back(judgedNs_.back());
    plan.end(judgedNs_.back());
    return;
  }
  for (size_t i = 0; i < judgedNs_.size(); ++i) {
    const bool isWarmup = result_.execNs.size() < options_.warmup;
    if (!isWarmup && (!plan.wantsMore() || (i == 0 && judgedNs_[i] < MeasuringPlan::kLongNs)))
      continue;
    result_.execNs.push_back(judgedNs_[i]);
    if (!isWarmup)
      plan.measure(judgedNs_[i]);
  }
}

/// Without counters the result is as good as without asking for them.
void Experiment::readCounters() {
  const bool everything = !bench_.isMemoryTrusted;
  try {
    const auto passes = bench_.device.startCounters(options_.counters);
    bool isLast = false;
    while (!isLast) {
      restore(everything, /*isTimed=*/false);
      if (options_.coldCache)
        bench_.device.flushCaches();
      bench_.image.waitForRestore();
      passes->begin();
      launchOnly();
      isLast = passes->end();
    }
    const std::vector<double> values = passes->values();
    for (size_t i = 0; i < options_.counters.size(); ++i)
      result_.counters.emplace_back(options_.counters[i], values.at(i));
  } catch (const Error& error) {
    if (!bench_.device.isUsable())
      throw;
    result_.countersError = error.what();
  }
  bench_.isMemoryTrusted = !everything;
}

/// Launches without restoring, and returns whether that leaves what was recorded.
bool Experiment::leavesTheSame() {
  bench_.device.resetHeap();
  return launchAndVerify().isExact();
}

/// Only memory that the kernel changes is not as recorded when it was not restored. So a kernel
/// that leaves the same with anything there does not read it, or not to any effect: first with its
/// own output, then with other content.
void Experiment::probeInPlace() {
  if (result_.resultClass != ResultClass::Exact || !bench_.isMemoryTrusted || !leavesTheSame() ||
      !bench_.image.disturbChanged(kMostDisturbed))
    return;
  bench_.textures.load(); // what was disturbed of surfaces lies in memory until now
  if (!leavesTheSame())
    return;
  for (int i = 0; i < kProbes; ++i) {
    restore(/*everything=*/false, /*isTimed=*/false);
    result_.execNs.push_back(launch());
    bench_.device.resetHeap();
    result_.inPlaceNs.push_back(launch());
  }
}

void Experiment::measure() {
  // A binary that strays or disagrees may have changed anything.
  const bool everything = !bench_.isMemoryTrusted;
  MeasuringPlan plan(options_);
  useJudged(plan);
  while (result_.execNs.size() < options_.warmup && plan.wantsWarmups())
    plan.see(measuredLaunch(everything));
  if (plan.isHopeless() && plan.sample().count() == 0 && plan.wantsMore())
    plan.end(result_.execNs.back()); // a warm-up says it, too
  while (plan.wantsMore()) {
    if (mayBeInSeries(plan, everything))
      measuredSeries(plan);
    else
      plan.measure(measuredLaunch(everything));
  }
  bench_.isMemoryTrusted = !everything;
  if (timedRestores_ > 0)
    result_.restoreSeconds = timedRestoreSeconds_ / timedRestores_ * restores_;
  result_.medianNs = plan.sample().median();
  result_.iterationsUsed = plan.sample().count();
  result_.isColdCache = options_.coldCache;
  result_.isStoppedEarly = plan.isHopeless();
  if (const auto interval = plan.sample().interval())
    result_.ciNs = {interval->low, interval->high};
}

} // namespace mneme::replay
