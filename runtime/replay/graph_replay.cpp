#include "runtime/replay/graph_replay.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "runtime/core/base/error.h"
#include "runtime/replay/build_licence.h"
#include "runtime/replay/code_without_ir.h"
#include "runtime/replay/graph_steps.h"
#include "runtime/replay/kernel_output.h"
#include "runtime/replay/labels.h"
#include "runtime/replay/recorded_part.h"
#include "runtime/replay/text.h"
#include "runtime/replay/textures.h"
#include "runtime/replay/timing.h"
#include "runtime/replay/verify.h"

namespace mneme::replay {
namespace {

constexpr size_t kMaxMismatches = 64;

using OpenDevice = std::function<std::unique_ptr<device::Device>()>;

class GraphReplay {
public:
  GraphReplay(const std::vector<GraphStep>& steps, const OpenDevice& open, const Options& options,
              Result& result)
      : options_(options), result_(result) {
    if (steps.empty())
      throw Error(ErrorCode::InvalidArgument, "the graph has no kernel");
    for (const GraphStep& step : steps)
      steps_.push_back(std::make_unique<OpenStep>(step));
    device_ = open();
    result.device = device_->description().id;
    result.part = useRecordedPart(*device_, commonPart());
    result.multiprocessors = device_->description().multiprocessors;
    for (const auto& step : steps_) {
      checkRunsOn(step->record, device_->description());
      device_->raiseLimits(step->instance.limits);
    }
    OpenStep& first = *steps_.front();
    image_ = std::make_unique<MemoryImage>(*device_, first.record, first.prologue,
                                           steps_.back()->epilogue, UINT64_MAX);
    textures_ = std::make_unique<Textures>(*device_, first.record, first.instance, *image_);
    for (const auto& step : steps_)
      takeArguments(*step);
    for (size_t index = 1; index < steps_.size(); ++index)
      steps_[index]->patches = patchesBetween(*steps_[index - 1], *steps_[index], *image_);
    labels_ = makeLabels(image_->sites(), first.record.args, first.prologue.args(),
                         first.record.demangledName);
    nameArrays(labels_, *image_, first.instance.textures);
    types_ = std::make_unique<ElementTypes>(labels_, [] { return std::string("{}"); });
  }

  void perform() {
    for (const auto& step : steps_) {
      buildStep(*step, *device_, *image_, options_, result_);
      for (const std::string& read : step->unrecordedReads)
        if (!textures_->holds(read, step->isGiven) &&
            std::ranges::find(result_.unrecordedReads, read) == result_.unrecordedReads.end())
          result_.unrecordedReads.push_back(read);
    }
    checkPatches();
    Verifier verifier(*device_, *image_, labels_, *types_, options_.tolerances);
    judge(verifier);
    result_.timer = device_->timerName();
    measure();
  }

  bool isUsable() const { return device_->isUsable(); }

private:
  /// The recorder gives all kernels of a graph the textures that any of them can see.
  void takeArguments(OpenStep& step) {
    if (step.instance.textures != steps_.front()->instance.textures)
      throw Error(ErrorCode::Unsupported, "kernel '" + step.record.demangledName +
                                              "' of the graph sees other textures or surfaces than "
                                              "the first, so they share no memory image");
    step.values = step.prologue.args();
    for (std::vector<std::byte>& value : step.values)
      image_->moves().translate(value, 0);
    step.isGiven = textures_->rewrite(step.values, step.record);
  }

  /// That of all kernels; where they had different ones, none.
  artifact::DevicePart commonPart() const {
    const artifact::DevicePart& first = steps_.front()->instance.part;
    const bool isSame =
        std::ranges::all_of(steps_, [&](const auto& step) { return step->instance.part == first; });
    return isSame ? first : artifact::DevicePart();
  }

  /// What only one module has cannot be changed in all.
  void checkPatches() const {
    for (const auto& step : steps_)
      for (const Patch& patch : step->patches)
        if (const Site& site = image_->sites()[patch.site]; site.live != site.home)
          throw Error(ErrorCode::Unsupported,
                      "the graph changes the constant variable '" + site.region.name + "'");
  }

  double timeoutSeconds(const OpenStep& step) const {
    const bool isOnCpu = device_->description().target.starts_with("cpu");
    return options_.timeoutSeconds > 0
               ? options_.timeoutSeconds
               : defaultTimeoutSeconds(step.instance.recordedNs,
                                       isOnCpu && step.record.device != "cpu");
  }

  uint64_t placeOf(const Patch& patch) const {
    return image_->sites()[patch.site].live + patch.offset;
  }

  /// Writes what something other than a kernel wrote, into arrays as well.
  void apply(const std::vector<Patch>& patches) {
    const bool areArraysChanged = std::ranges::any_of(
        patches, [&](const Patch& patch) { return textures_->isArray(placeOf(patch)); });
    if (areArraysChanged)
      textures_->store(); // what kernels have written beside it
    for (const Patch& patch : patches)
      device_->copyToDevice(placeOf(patch), patch.bytes.data(), patch.bytes.size());
    if (areArraysChanged)
      textures_->load(/*isOther=*/true);
  }

  /// Returns the time of all kernels.
  uint64_t run() {
    uint64_t total = 0;
    device_->resetHeap();
    textures_->load(/*isOther=*/true); // patches may have changed any array
    for (const auto& step : steps_) {
      apply(step->patches);
      std::vector<void*> args;
      for (std::vector<std::byte>& value : step->values)
        args.push_back(value.data());
      total += device_->launch(*step->module, step->shape, args.data(), timeoutSeconds(*step));
      ++result_.launches;
    }
    result_.launchedNs += total;
    return total;
  }

  Verdict runAndVerify(Verifier& verifier) {
    judgedNs_ = run();
    result_.executed = true;
    textures_->store();
    return verifier.verify();
  }

  void judge(Verifier& verifier) {
    const Verdict verdict = runAndVerify(verifier);
    if (verdict.isExact()) {
      result_.resultClass = ResultClass::Exact;
      result_.verified = true;
      return;
    }
    const auto hashes = verifier.hashSites(verdict);
    image_->restoreAll();
    const Verdict again = runAndVerify(verifier);
    const bool isVarying = verifier.hashSites(verdict) != hashes;
    result_.verified = verdict.isAccepted() && again.isAccepted();
    result_.resultClass = isVarying                          ? ResultClass::Nondeterministic
                          : result_.verified                 ? ResultClass::WithinTolerance
                          : !result_.unrecordedReads.empty() ? ResultClass::Unreproducible
                                                             : ResultClass::Wrong;
    report(verifier, verdict);
    if (!result_.verified)
      result_.note = explainReads(result_.unrecordedReads);
  }

  void report(const Verifier& verifier, const Verdict& verdict) {
    for (const Finding& finding : verdict.findings) {
      result_.maxUlp = std::max(result_.maxUlp, finding.distance.maxUlp);
      result_.maxRelative = std::max(result_.maxRelative, finding.distance.maxRelative);
      result_.maxAbsolute = std::max(result_.maxAbsolute, finding.distance.maxAbsolute);
      if (!finding.report.isAccepted && result_.mismatches.size() < kMaxMismatches)
        result_.mismatches.push_back(verifier.describe(finding));
    }
  }

  /// The verified run is the first warm-up.
  void measure() {
    TimeSample sample;
    result_.execNs.push_back(judgedNs_);
    for (uint32_t done = 1; done < options_.warmup + options_.iterations; ++done) {
      image_->restoreAll();
      image_->waitForRestore();
      result_.execNs.push_back(run());
    }
    const size_t measured = std::min<size_t>(options_.iterations, result_.execNs.size());
    for (size_t index = result_.execNs.size() - measured; index < result_.execNs.size(); ++index)
      sample.add(result_.execNs[index]);
    result_.medianNs = sample.median();
    result_.iterationsUsed = sample.count();
    if (const auto interval = sample.interval())
      result_.ciNs = {interval->low, interval->high};
  }

  const Options& options_;
  Result& result_;
  std::unique_ptr<device::Device> device_; ///< outlives the modules that the steps loaded
  std::vector<std::unique_ptr<OpenStep>> steps_;
  std::unique_ptr<MemoryImage> image_;
  std::unique_ptr<Textures> textures_;
  std::vector<Label> labels_;
  std::unique_ptr<ElementTypes> types_;
  uint64_t judgedNs_ = 0;
};

Result replay(const std::vector<GraphStep>& steps, const OpenDevice& open, const Options& options) {
  Result result;
  result.startTime = timeText();
  const auto start = std::chrono::steady_clock::now();
  const KernelOutput redirected;
  GraphReplay replay(steps, open, options, result);
  result.openSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto fail = [&](const std::string& message) {
    result.failed = true;
    result.verified = false;
    result.resultClass = ResultClass::Failed;
    result.error = message;
  };
  try {
    replay.perform();
  } catch (const Error& error) {
    fail(error.what());
  } catch (const std::bad_alloc&) {
    fail("the host has not enough memory for this replay");
  }
  result.isDeviceUsable = replay.isUsable();
  result.endTime = timeText();
  return result;
}

} // namespace

Result replayGraph(const std::vector<GraphStep>& steps, const std::string& device,
                   const Options& options) {
  return replay(steps, [&] { return device::openDevice(device); }, options);
}

Result replayGraph(const std::vector<GraphStep>& steps, std::unique_ptr<device::Device> device,
                   const Options& options) {
  return replay(steps, [&] { return std::move(device); }, options);
}

} // namespace mneme::replay
