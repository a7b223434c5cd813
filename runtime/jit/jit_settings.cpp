#include "runtime/jit/jit_settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace mneme::jit {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kMaxPollMilliseconds = 60000;
constexpr double kMaxTimeoutSeconds = 1e6;

class Reader {
public:
  Reader(const Environment& environment, std::vector<std::string>& warnings)
      : environment_(environment), warnings_(warnings) {}

  std::string text(const char* name) const {
    const char* value = environment_(name);
    return value ? value : "";
  }

  void number(const char* name, int64_t low, int64_t high, auto& target) const {
    const std::string value = text(name);
    if (value.empty())
      return noteEmpty(name);
    const std::optional<int> parsed = integer(value);
    if (!parsed || *parsed < low || *parsed > high)
      refuse(name, value,
             "is not a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    else
      target = static_cast<std::decay_t<decltype(target)>>(*parsed);
  }

  /// Everything but 0 is true.
  void flag(const char* name, bool& target) const {
    const std::string value = text(name);
    if (value.empty())
      return noteEmpty(name);
    if (const std::optional<int> parsed = integer(value))
      target = *parsed != 0;
    else
      refuse(name, value, "is neither 0 nor 1");
  }

  /// The first of its letters counts.
  void letter(const char* name, const std::string& allowed, char& target) const {
    const std::string value = text(name);
    if (value.empty())
      return;
    if (allowed.find(value.front()) == std::string::npos)
      refuse(name, value, "does not begin with one of " + allowed);
    else
      target = value.front();
  }

  void bytes(const char* name, uint64_t& target) const {
    std::string value = text(name);
    if (value.empty())
      return;
    const size_t suffix = std::string("KMG").find(value.back());
    const unsigned shift = suffix == std::string::npos ? 0 : 10 * (unsigned(suffix) + 1);
    uint64_t parsed = 0;
    const char* end = value.data() + value.size() - (shift ? 1 : 0);
    const auto [stop, error] = std::from_chars(value.data(), end, parsed);
    if (error != std::errc() || stop != end ||
        parsed > (std::numeric_limits<uint64_t>::max() >> shift))
      refuse(name, value, "is not a number of bytes like 500M or 2G");
    else
      target = parsed << shift;
  }

  void seconds(const char* name, double& target) const {
    const std::string value = text(name);
    if (value.empty())
      return;
    double parsed = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, parsed);
    if (error != std::errc() || stop != end || !(parsed >= 0 && parsed <= kMaxTimeoutSeconds))
      refuse(name, value, "is not a number of seconds");
    else
      target = parsed;
  }

  void trace(const char* name, Trace& target) const {
    const std::string value = text(name);
    for (size_t begin = 0; begin < value.size();) {
      const size_t end = std::min(value.find(';', begin), value.size());
      const std::string token = value.substr(begin, end - begin);
      begin = end + 1;
      if (token == "specialization")
        target.specialization = true;
      else if (token == "ir-dump")
        target.ir = true;
      else if (token == "kernel-trace")
        target.kernels = true;
      else if (token == "cache-stats")
        target.cache = true;
      else if (!token.empty()) {
        nonsense_ = "Unknown " + std::string(name) + " token: " + token;
        warnings_.push_back(std::string(name) + " has no token '" + token +
                            "'; it knows specialization, ir-dump, kernel-trace, cache-stats");
      }
    }
  }

  void refuse(const char* name, const std::string& value, const std::string& why) const {
    if (std::string_view(name).starts_with("PROTEUS_") && nonsense_.empty())
      nonsense_ = std::string(name) + "='" + value + "' " + why;
    warnings_.push_back(std::string(name) + "='" + value + "' " + why + "; the default is used");
  }

  /// Programs with marks end with an error at the first invalid value.
  std::string& nonsense() { return nonsense_; }

private:
  /// As the existing tool reads them, by stoi: blanks may come before, and anything behind.
  static std::optional<int> integer(const std::string& value) {
    try {
      return std::stoi(value);
    } catch (const std::logic_error&) {
      return std::nullopt;
    }
  }

  void noteEmpty(const char* name) const {
    if (environment_(name) && std::string_view(name).starts_with("PROTEUS_") && nonsense_.empty())
      nonsense_ = std::string(name) + " is empty";
  }

  const Environment& environment_;
  std::vector<std::string>& warnings_;
  mutable std::string nonsense_;
};

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// What stands between separators; nothing where nothing stands.
std::vector<std::string> partsOf(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (!part.empty())
      parts.push_back(std::move(part));
  }
  return parts;
}

void readCacheChain(Reader& read, Settings& settings, std::vector<std::string>& warnings) {
  using Kind = CacheLevel::Kind;
  std::vector<CacheLevel> levels;
  for (const std::string& name : partsOf(read.text("PROTEUS_OBJECT_CACHE_CHAIN"), ',')) {
    const std::string known = lowered(name);
    if (known == "storage")
      levels.push_back({Kind::Storage, name});
    else if (known == "mpi-local-lookup")
      levels.push_back({Kind::MpiLocal, name});
    else if (known == "mpi-remote-lookup")
      levels.push_back({Kind::MpiRemote, name});
    else {
      read.nonsense() = "Unknown cache type: " + name;
      warnings.push_back("PROTEUS_OBJECT_CACHE_CHAIN has no level '" + name +
                         "'; it knows storage, mpi-local-lookup, mpi-remote-lookup");
    }
  }
  if (!levels.empty())
    settings.cacheLevels = std::move(levels);
  for (const std::string& directory : partsOf(read.text("MNEME_JIT_SITE_CACHE"), ':'))
    settings.siteDirectories.emplace_back(directory);
  if (!settings.siteDirectories.empty())
    settings.cacheLevels.push_back({Kind::Site, "site"});
}

void readTimeTrace(const Reader& read, Settings& settings) {
  bool isOn = false;
  uint32_t grain = 500;
  read.flag("PROTEUS_ENABLE_TIME_TRACE", isOn);
  read.number("PROTEUS_TIME_TRACE_GRAIN", 1, 1 << 30, grain);
  settings.timeTraceGrain = isOn ? grain : 0;
  if (const std::string file = read.text("PROTEUS_TIME_TRACE_FILE"); !file.empty())
    settings.timeTraceFile = file;
}

/// There is one way to copy a kernel; the names are the reference tool's.
void readClone(const Reader& read, MarkedDefaults& marked, std::vector<std::string>& warnings) {
  const std::string clone = lowered(read.text("PROTEUS_KERNEL_CLONE"));
  if (clone == "link-clone-prune" || clone == "link-clone-light")
    marked.clone = clone;
  else if (!clone.empty() && clone != marked.clone)
    warnings.push_back("PROTEUS_KERNEL_CLONE='" + clone + "' is unknown; " + marked.clone +
                       " is used");
}

void readMarked(const Reader& read, MarkedDefaults& marked) {
  read.flag("PROTEUS_SPECIALIZE_ARGS", marked.specializeArgs);
  read.flag("PROTEUS_SPECIALIZE_LAUNCH_BOUNDS", marked.launchBounds);
  read.flag("PROTEUS_SPECIALIZE_DIMS", marked.specializeDims);
  bool isBounded = false;
  read.flag("PROTEUS_SPECIALIZE_DIMS_RANGE", isBounded);
  if (!read.text("PROTEUS_SPECIALIZE_DIMS_RANGE").empty())
    marked.boundIndices = isBounded;
  const std::string codegen = lowered(read.text("PROTEUS_CODEGEN"));
  if (!codegen.empty() && codegen != "rtc" && codegen != "serial" && codegen != "parallel")
    read.refuse("PROTEUS_CODEGEN", codegen, "is not one of rtc, serial, parallel");
  marked.codegen = codegen == "serial" ? "Serial" : codegen == "parallel" ? "Parallel" : "RTC";
  marked.pipeline = read.text("PROTEUS_OPT_PIPELINE");
  read.letter("PROTEUS_OPT_LEVEL", "0123sz", marked.optLevel);
  read.number("PROTEUS_CODEGEN_OPT_LEVEL", 0, 3, marked.codegenOptLevel);
}

} // namespace

Settings readSettings(const Environment& environment, std::vector<std::string>& warnings) {
  Settings settings;
  Reader read(environment, warnings);
  bool isDisabled = false;
  read.flag("PROTEUS_DISABLE", isDisabled);
  if (!isDisabled)
    settings.tunedKernels = read.text("PROTEUS_TUNED_KERNELS");
  if (const std::string directory = read.text("PROTEUS_CACHE_DIR"); !directory.empty())
    settings.cacheDirectory = directory;
  bool isStored = true;
  read.flag("PROTEUS_USE_STORED_CACHE", isStored);
  if (isStored) {
    readCacheChain(read, settings, warnings);
  } else {
    settings.cacheDirectory.clear();
    settings.cacheLevels.clear();
  }
  read.number("PROTEUS_COMM_THREAD_POLL_MS", 1, kMaxPollMilliseconds, settings.mpiPollMilliseconds);
  read.bytes("MNEME_JIT_CACHE_BYTES", settings.cacheBytes);
  read.seconds("MNEME_JIT_TIMEOUT", settings.timeoutSeconds);
  read.number("MNEME_JIT_MAX_BINARIES", 0, 1 << 20, settings.maxBinaries);
  read.flag("PROTEUS_ASYNC_COMPILATION", settings.isAsync);
  read.number("PROTEUS_ASYNC_THREADS", 1, kMaxThreads, settings.asyncThreads);
  read.flag("PROTEUS_ASYNC_TEST_BLOCKING", settings.waitsForAsync);
  read.flag("PROTEUS_DUMP_LLVM_IR", settings.dumpsIr);
  read.trace("PROTEUS_TRACE_OUTPUT", settings.trace);
  readMarked(read, settings.marked);
  readClone(read, settings.marked, warnings);
  readTimeTrace(read, settings);
  bool isCopied = false; // addresses are never in the object
  read.flag("PROTEUS_RELINK_GLOBALS_BY_COPY", isCopied);
  read.flag("PROTEUS_ENABLE_TIMERS", settings.trace.timers);
  settings.asked = settings.trace;
  bool isDebugging = false;
  read.flag("PROTEUS_DEBUG_OUTPUT", isDebugging);
  settings.namesFunctions = isDebugging;
  if (isDebugging)
    settings.trace = {.specialization = true,
                      .ir = settings.trace.ir,
                      .kernels = true,
                      .cache = true,
                      .timers = true};
  settings.nonsense = read.nonsense();
  return settings;
}

} // namespace mneme::jit
