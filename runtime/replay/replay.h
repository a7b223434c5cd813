// Room replay: runs a recorded kernel again, checks it and measures it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compiler/service/configuration.h"
#include "runtime/core/artifact/recording.h"
#include "runtime/devices/compare.h"
#include "runtime/devices/device.h"

namespace mneme::replay {

/// Python's ExperimentConfiguration (docs/python.md), which names the fields of its JSON.
struct Configuration : compile::Knobs {
  artifact::Dim3 grid = {}, block = {};
  uint64_t sharedBytes = 0;
};

/// A tolerance from the command line; overrides annotations of the regions it matches.
struct ToleranceRule {
  std::string region; ///< "" every region, a global's name, an argument's name, or "0x<address>"
  device::DataType type = device::DataType::U8;
  device::ThresholdKind kind = device::ThresholdKind::Absolute;
  device::Norm norm = device::Norm::None;
  device::NanPolicy nan = device::NanPolicy::Equal;
  double threshold = 0.0;
};

/// Reads "[REGION=]TYPE:KIND:THRESHOLD[:NORM][:NAN]": TYPE as device::parseDataType(), KIND one of
/// abs, rel, ulp, NORM one of none, l1, l2, linf, NAN one of nan-equal, nan-bitwise, nan-never.
/// "sum=f32:rel:1e-5", "f64:ulp:4", "f32:rel:1e-6:l2". \throws Error{InvalidArgument}
ToleranceRule parseToleranceRule(const std::string& text);
/// Returns the text that parseToleranceRule() reads.
std::string toText(const ToleranceRule& rule);

/// How a configuration is measured. Memory is restored before every launch, unless `inPlace`. With
/// `confidence` 0 exactly `iterations` launches are measured; otherwise as many as it takes
/// (timing.h says how).
struct Options {
  uint32_t iterations = 3;
  uint32_t warmup = 2;
  double timeoutSeconds = 0; ///< per launch; 0: defaultTimeoutSeconds()
  bool coldCache = false; ///< replace the content of the device's caches before every timed launch
  /// Half the width of the median's 95 % confidence interval, relative to the median, at which
  /// measuring ends; 0: a fixed number of launches.
  double confidence = 0;
  uint32_t minIterations = 0;    ///< with `confidence`; 0: `iterations`
  uint32_t maxIterations = 1000; ///< with `confidence`
  double timeBudgetSeconds = 0;  ///< measuring ends after the launch that exceeds it; 0: none
  uint64_t stopAboveNs = 0;      ///< measuring ends once the kernel is certainly slower; 0: never
  /// Launch a binary with another result again, to distinguish wrong from nondeterministic results.
  /// Without this, a result that is not accepted is assumed to be deterministic, and is not
  /// measured further unless it is FewUlp.
  bool classifyWrong = true;
  /// Queue measured launches of short kernels in a row, which keeps the device at work. Without
  /// `confidence` only.
  bool inSeries = false;
  /// Instead of measuring, find out whether launches may be measured in place (Result::inPlaceNs).
  bool probesInPlace = false;
  /// Restore memory before the verified launch only: the others find what the one before left. For
  /// kernels that do not read what they change.
  bool inPlace = false;
  std::vector<ToleranceRule> tolerances = {};
  /// Hardware counters to read, by their names (device::Device::startCounters()): in launches of
  /// their own, after the measured ones.
  std::vector<std::string> counters = {};
  std::vector<std::byte> ir = {}; ///< replaces the recorded IR (text or bitcode) when not empty
  bool wantIr = false;
  bool wantAssembly = false;
  bool useCache = true;
};

/// Returns the time limit for a launch that took `recordedNs` (0: unknown) when it was recorded:
/// enough for any sane configuration, so that only hanging ones are ended. `isOtherKind`: recorded
/// on a GPU and replayed on the CPU device.
double defaultTimeoutSeconds(uint64_t recordedNs, bool isOtherKind) noexcept;

/// Unreproducible: another result, from code that reads things that no recording contains. FewUlp:
/// another result, but only floating-point numbers differ, by a few units in the last place.
enum class ResultClass {
  Exact,
  WithinTolerance,
  Nondeterministic,
  Unreproducible,
  FewUlp,
  Wrong,
  Failed
};

struct Mismatch {
  std::string region; ///< "argument 'out' at 0x600000000000", "global 'counter'", "stray write ..."
  uint64_t address = 0; ///< of the first mismatching element
  uint64_t regionOffset = 0;
  uint64_t element = 0;
  std::string dataType = {};
  std::string expected = {};
  std::string actual = {};
  uint64_t differing = 0;
  uint64_t elements = 0;
};

/// Python's ExperimentResult (docs/python.md), which names the fields of its JSON.
struct Result {
  double preprocessIrSeconds = 0, optSeconds = 0, codegenSeconds = 0;
  bool isCodeFromCache = false; ///< these three were measured when the code was compiled earlier
  uint64_t objectBytes = 0;
  /// Times of warm-ups, then of iterations. The verified launch is one of them (experiment.h).
  std::vector<uint64_t> execNs;
  bool verified = false, executed = false, failed = false;
  std::string startTime, endTime; ///< ISO 8601 UTC
  uint32_t gpuId = 0;
  uint64_t constBytes = 0, localBytes = 0;
  uint32_t registers = 0;
  std::optional<uint64_t> spillBytes;  ///< stored and loaded by instructions that save registers
  std::optional<uint64_t> sharedBytes; ///< static shared memory of a block
  std::string error;

  ResultClass resultClass = ResultClass::Failed;
  uint64_t maxUlp = 0;
  double maxRelative = 0.0;
  double maxAbsolute = 0.0;
  /// Tolerances to try if the result is nondeterministic or isRounding; those that accept it if it
  /// is FewUlp. Empty if something differs that takes none, as integers.
  std::string suggestion;
  /// Whether a wrong result differs by no more than rounding, in code whose build allows pipelines
  /// to round differently.
  bool isRounding = false;
  /// Options of the program's build that this build did not follow, as on the command line.
  std::vector<std::string> refusedOptions;
  /// Things that the code reads and the recording does not contain (passes/unrecorded_reads.h):
  /// "clocks", ...
  std::vector<std::string> unrecordedReads;
  std::string note; ///< explanation of a differing result, and what to do; may be empty
  std::vector<Mismatch> mismatches;
  std::string device;
  uint32_t multiprocessors = 0; ///< on which it could run
  std::string part; ///< a sentence, if the recorded launch had a part of a device or this one had
  std::string irHash, imageHash;
  std::string ir, assembly; ///< when asked for
  double openSeconds = 0, restoreSeconds = 0, verifySeconds = 0;
  std::string timer;           ///< timer that measured execNs: device::Device::timerName()
  uint64_t medianNs = 0;       ///< of the measured launches, without warm-ups
  std::vector<uint64_t> ciNs;  ///< 95 % confidence interval of the median; empty below 6 launches
  uint64_t iterationsUsed = 0; ///< number of measured launches
  bool isColdCache = false;
  bool isStoppedEarly = false;  ///< slower than Options::stopAboveNs
  bool isDeviceUsable = true;   ///< false: this process can do nothing more with the device
  double deviceOpenSeconds = 0; ///< part of openSeconds: opening the device
  double uploadSeconds = 0;     ///< part of openSeconds: reserving and filling memory
  std::vector<std::pair<std::string, double>> counters; ///< those that were read
  std::string countersError; ///< why those that were asked for were not read
  /// Times of launches on memory that was not restored, if Options::probesInPlace found that these
  /// leave what others do, whatever is in the memory that they change; else empty. As many as
  /// execNs has of launches on restored memory.
  std::vector<uint64_t> inPlaceNs;
  uint64_t launches = 0;   ///< number of launches, for any purpose
  uint64_t launchedNs = 0; ///< their total time
};

std::string toJson(const Configuration& configuration);
/// Without ir and assembly. Infinite distances are written as the largest double.
std::string toJson(const Result& result);
/// "grid" and "block" ({"x","y","z"}) are required, "codegen_method" is ignored.
/// \throws Error{InvalidArgument} naming the key that is unknown or has a wrong value.
Configuration configurationFromJson(const std::string& json);
/// Keys: "iterations", "warmup", "timeout" (seconds), "tolerances" (list of texts as
/// parseToleranceRule() reads, or objects {"region","type","kind","threshold","norm","nan"}),
/// "want_ir", "want_assembly", "use_cache", "cold_cache", "confidence", "min_iterations",
/// "max_iterations", "time_budget" (seconds), "stop_above_ns", "classify_wrong", "in_series",
/// "probes_in_place", "in_place", "counters" (list of names). All optional.
/// \throws Error{InvalidArgument}
Options optionsFromJson(const std::string& json);
/// "exact", "within_tolerance", "nondeterministic", "unreproducible", "few_ulp", "wrong", "failed".
const char* nameOf(ResultClass resultClass) noexcept;

struct SessionOptions {
  /// Device memory that copies of prologue and epilogue may take. Content that does not fit is read
  /// from the snapshot files again for every restore and comparison.
  uint64_t goldenBytesLimit = UINT64_MAX;
};

/// The target of compiled code.
struct CodeTarget {
  std::string name; ///< device::Description::target
  /// Addresses to compile in, for a device that does not place globals when it loads.
  std::vector<device::GlobalPlacement> placedGlobals = {};
};

/// A recorded instance, opened on a device: memory reserved at the recorded addresses, prologue and
/// epilogue uploaded once. One host thread.
class Session {
public:
  /// `recordId` empty: the only instance of the record. `device` as device::openDevice().
  /// \throws Error{NotFound, ArtifactCorrupt, AddressUnavailable, BackendUnavailable,
  /// InvalidArgument} (the last for an ambiguous record id).
  Session(const std::filesystem::path& record, const std::string& recordId,
          const std::string& device, const SessionOptions& options = {});
  /// The same on an open device.
  Session(const std::filesystem::path& record, const std::string& recordId,
          std::unique_ptr<device::Device> device, const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The configuration of the recorded launch.
  Configuration recorded() const;

  /// Returns the target that run() compiles for. With it another process can fill the compile cache
  /// (RecordedCode::request()). Does not change while the session is open.
  CodeTarget codeTarget() const;

  /// Only builds, so that a later run() with the same arguments need not. Returns the compiler's
  /// statistics (JSON). \throws Error as the compiler, or if the device cannot launch such a shape.
  std::string build(const Configuration& configuration, const Options& options);

  /// Builds once, restores, runs and verifies, then measures the same binary. Errors of the
  /// configuration, the compiler or the kernel are in the result (failed, error), not thrown. After
  /// a failure that the device does not survive (Result::isDeviceUsable) every further run reports
  /// that it failed; a new process is needed. The kernel's output appears on standard error: the
  /// process's standard output is redirected there meanwhile.
  Result run(const Configuration& configuration, const Options& options);

private:
  friend class Trim;
  struct Impl;
  void open(const std::filesystem::path& record, const std::string& recordId,
            const std::function<std::unique_ptr<device::Device>()>& openDevice,
            const SessionOptions& options);

  std::string describeElements() const;

  std::unique_ptr<Impl> impl_;
};

} // namespace mneme::replay
