// Room jit: how often compiled code was used and found, and what is said of it at exit, in the
// lines of the reference tool (docs/jit.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace mneme::jit {

/// The rank in names of files and lines: the first set of the variables of launchers, else "0".
std::string rankText();

/// One for each engine. Thread-safe.
class CacheReport {
public:
  /// One specialisation.
  struct Entry {
    std::string symbol;   ///< mangled
    std::string readable; ///< demangled
    std::atomic<uint64_t> uses{0};
    std::atomic<uint64_t> launches{0}; ///< where they are counted apart
  };

  /// What PROTEUS_TRACE_OUTPUT and PROTEUS_DEBUG_OUTPUT want.
  struct Wanted {
    bool counts = false;
    bool kernels = false;
    bool functionNames = false;
  };

  /// `label`: "JitEngineDevice".
  explicit CacheReport(std::string label, bool countsLaunches = false)
      : label_(std::move(label)), countsLaunches_(countsLaunches) {}

  /// Lives as long as the report.
  Entry& entry(uint64_t hash, const std::string& symbol, const std::string& readable);
  /// Code was looked for on disk.
  void countStored(bool isFound) noexcept;

  /// The lines, each with its end. `isStored`: there is a cache on disk.
  std::string text(const Wanted& wanted, bool isStored) const;

private:
  std::string counts(bool withNames) const;
  std::string kernels() const;
  std::string line(const std::string& text) const {
    return "[proteus][" + label_ + "] " + text + "\n";
  }

  const std::string label_;
  const bool countsLaunches_; ///< else every use is one
  mutable std::mutex mutex_;  ///< of entries_
  std::map<uint64_t, std::unique_ptr<Entry>> entries_;
  std::atomic<uint64_t> storedHits_{0}, storedAccesses_{0};
};

} // namespace mneme::jit
