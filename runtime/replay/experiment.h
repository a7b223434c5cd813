// Room replay: one configuration, from the compiler to the verdict and the times.
#pragma once

#include <memory>
#include <vector>

#include "runtime/artifact/recording.h"
#include "runtime/device/device.h"
#include "runtime/replay/build.h"
#include "runtime/replay/labels.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/replay.h"
#include "runtime/replay/timing.h"
#include "runtime/replay/verify.h"

namespace mneme::replay {

/// What an experiment works with; belongs to the session.
struct Workbench {
  const artifact::KernelRecord& record;
  const artifact::Instance& instance;
  const std::vector<std::vector<std::byte>>& modules;
  const std::vector<std::vector<std::byte>>& values; ///< of the arguments, here
  device::Device& device;
  MemoryImage& image;
  const std::vector<Label>& labels;
  ModuleCache& cache;
  bool& isMemoryTrusted;
  bool& isMemoryFresh;
};

/// Fills in `result`. One use.
///
/// Launches that are verified are also warm-ups, or, if no more of these are wanted, measured: they
/// run the same binary on restored memory and the same caches. The first launch of a binary is not
/// measured: a short kernel would show its costs.
class Experiment {
public:
  Experiment(const Workbench& bench, const Configuration& configuration, const Options& options,
             Result& result)
      : bench_(bench), configuration_(configuration), options_(options), result_(result) {}

  /// \throws Error when the configuration is refused, cannot be built, or fails on the device
  void perform();

private:
  void build();
  void checkArguments() const;
  void restore(bool everything, bool isTimed);
  double timeoutSeconds() const;
  uint64_t launch();
  uint64_t measuredLaunch(bool everything);
  Verdict runAndVerify(bool everything);
  void judge();
  void judgeInexact(const Verdict& first);
  bool repeat(const Verdict& first, Verdict& widest, std::vector<bool>& isVarying);
  void explain(const Verdict& verdict);
  void suggest(const Finding& finding);
  void report(const Verdict& verdict, const std::vector<bool>& isVarying);
  void measure();
  void useJudged(MeasuringPlan& plan);

  Workbench bench_;
  const Configuration& configuration_;
  const Options& options_;
  Result& result_;
  device::LaunchShape shape_;
  std::shared_ptr<device::Module> module_;
  std::unique_ptr<Verifier> verifier_;
  std::vector<void*> args_;
  double timedRestoreSeconds_ = 0; ///< of the restores that were waited for
  uint32_t timedRestores_ = 0, restores_ = 0;
  std::vector<uint64_t> judgedNs_; ///< of the verified launches, on memory that is beyond doubt
};

} // namespace mneme::replay
