// Room jit: settings from the environment. docs/production.md lists the variables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mneme::jit {

/// What is written to stderr in addition to warnings.
struct Trace {
  bool specialization = false; ///< values that become constants
  bool ir = false;             ///< optimised IR of every binary
  bool kernels = false;        ///< how each kind of launch is executed
  bool cache = false;          ///< counters at exit
  bool timers = false;         ///< seconds at exit
};

/// How marked kernels are compiled unless a file of tuned kernels says otherwise.
struct MarkedDefaults {
  bool specializeArgs = true;
  bool launchBounds = true;
  bool specializeDims = true;
  std::optional<bool> boundIndices = {}; ///< nothing: as the vendor's default is
  std::string pipeline = {};             ///< empty: LLVM's own for optLevel
  char optLevel = '3';                   ///< 0 1 2 3 s z
  uint32_t codegenOptLevel = 3;
  std::string clone =
      "cross-clone";           ///< how the reference tool would copy a kernel, in lines of timers
  std::string codegen = "RTC"; ///< RTC Serial Parallel: how the reference tool would, in traces
};

/// A place that is searched for compiled code.
struct CacheLevel {
  enum class Kind { Storage, MpiLocal, MpiRemote, Site };
  Kind kind = Kind::Storage;
  std::string given = "storage"; ///< its name, as people wrote it
};

struct Settings {
  std::filesystem::path tunedKernels = {};           ///< empty: none
  std::filesystem::path cacheDirectory = ".proteus"; ///< empty: nothing is stored
  uint64_t cacheBytes = uint64_t{1} << 30;
  double timeoutSeconds = 300; ///< for one compilation; 0: no limit
  double graceSeconds = 10;    ///< added to timeoutSeconds when waiting for another thread
  uint32_t maxBinaries = 16;   ///< per kernel and device
  bool isAsync = false;
  uint32_t asyncThreads = 1;
  bool waitsForAsync = false;  ///< launches wait for the pool, for tests
  bool dumpsIr = false;        ///< to .proteus-dump
  bool namesFunctions = false; ///< in the lines about caches
  MarkedDefaults marked = {};
  bool hasMarks = false;     ///< the program has units of the JIT interface
  std::string nonsense = {}; ///< an invalid value, as a sentence; programs with marks end with it
  std::vector<CacheLevel> cacheLevels = {CacheLevel{}}; ///< fastest first; empty: nothing is stored
  std::vector<std::filesystem::path> siteDirectories = {}; ///< of Site
  uint32_t mpiPollMilliseconds = 25;
  std::string jobRank = {};    ///< of MPI levels: "<rank>/<size>"
  uint32_t timeTraceGrain = 0; ///< microseconds; 0: no time trace of compilations
  std::filesystem::path timeTraceFile = "out.time-trace";
  Trace trace = {};
  Trace asked = {}; ///< the trace of programs with marks: without what PROTEUS_DEBUG_OUTPUT adds
};

/// Value of an environment variable; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

/// Invalid values are reported in `warnings`, and the default is used.
Settings readSettings(const Environment& environment, std::vector<std::string>& warnings);

} // namespace mneme::jit
