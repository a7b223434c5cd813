// Room replay: runs one configuration, from compiling to the verdict and the times.
#pragma once

#include <memory>
#include <vector>

#include "runtime/core/artifact/recording.h"
#include "runtime/devices/device.h"
#include "runtime/replay/build.h"
#include "runtime/replay/labels.h"
#include "runtime/replay/memory_image.h"
#include "runtime/replay/replay.h"
#include "runtime/replay/textures.h"
#include "runtime/replay/timing.h"
#include "runtime/replay/verify.h"

namespace mneme::replay {

/// What an experiment uses; owned by the session.
struct Workbench {
  const artifact::KernelRecord& record;
  const artifact::Instance& instance;
  const std::vector<std::vector<std::byte>>& modules;
  const std::vector<std::vector<std::byte>>&
      values; ///< of the arguments, with addresses of this process
  device::Device& device;
  MemoryImage& image;
  Textures& textures;
  const std::vector<Label>& labels;
  ElementTypes& types;
  ModuleCache& cache;
  bool& isMemoryTrusted;
  bool& isMemoryFresh;
};

/// Fills in `result`. Use each object once.
///
/// Verified launches also serve as warm-ups or, beyond the number of warm-ups, as measured
/// launches: they run the same binary on restored memory with the same caches. The first launch of
/// a binary is not measured, because its one-time costs would dominate the time of a short kernel.
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
  uint64_t launchOnly();
  uint64_t measuredLaunch(bool everything);
  bool mayBeInSeries(const MeasuringPlan& plan, bool everything) const;
  void measuredSeries(MeasuringPlan& plan);
  Verdict runAndVerify(bool everything);
  Verdict launchAndVerify();
  void judge();
  void judgeInexact(const Verdict& first);
  bool repeat(const Verdict& first, Verdict& widest, std::vector<bool>& isVarying);
  ResultClass classOf(const Verdict& verdict, bool isAccepted, bool isVarying) const;
  bool dependsOnOrder(const Verdict& verdict) const;
  void explain(const Verdict& verdict, bool isVarying);
  std::string noteOn(const Verdict& verdict, bool isVarying) const;
  void report(const Verdict& verdict);
  void measure();
  bool leavesTheSame();
  void probeInPlace();
  void readCounters();
  void useJudged(MeasuringPlan& plan);

  Workbench bench_;
  const Configuration& configuration_;
  const Options& options_;
  Result& result_;
  device::LaunchShape shape_;
  std::shared_ptr<device::Module> module_;
  std::unique_ptr<Verifier> verifier_;
  std::vector<void*> args_;
  double timedRestoreSeconds_ = 0; ///< time of the restores that were waited for
  uint32_t timedRestores_ = 0, restores_ = 0;
  std::vector<uint64_t> judgedNs_; ///< times of the verified launches, on correctly restored memory
};

} // namespace mneme::replay
