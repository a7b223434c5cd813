// Room jit: counts how often compiled code was used and found, and makes the lines that report it
// at exit, which are those of the reference tool (docs/jit.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mneme::jit {

/// Returns the rank for names of files and lines: the first variable of a launcher that is set,
/// else "0".
std::string rankText();

/// One for each engine. Thread-safe.
class CacheReport {
public:
  /// One specialisation.
  struct Entry {
    std::string symbol;   ///< mangled
    std::string readable; ///< demangled; empty: no kernel
    std::atomic<uint64_t> uses{0};
    std::atomic<uint64_t> launches{0}; ///< where they are counted apart
  };

  /// What PROTEUS_TRACE_OUTPUT and PROTEUS_DEBUG_OUTPUT ask for.
  struct Wanted {
    bool counts = false;
    bool kernels = false;
    bool functionNames = false;
  };

  /// `label` is "JitEngineDevice", for example. `levels` are the names of the levels of the cache
  /// on disk, with the rank, in lines at exit; empty: there is no such cache.
  CacheReport(std::string label, std::vector<std::string> levels, bool countsLaunches = false)
      : label_(std::move(label)), countsLaunches_(countsLaunches),
        levels_(levels.begin(), levels.end()) {}

  /// Finds or makes an entry, which lives as long as the report.
  Entry& entry(uint64_t hash, const std::string& symbol, const std::string& readable);
  /// Counts a lookup on disk: the levels before `foundIn` did not have the code, `foundIn` had it.
  /// kNowhere: no level had it.
  void countStored(size_t foundIn) noexcept;
  static constexpr size_t kNowhere = SIZE_MAX;

  /// Returns the lines, each with its line end.
  std::string text(const Wanted& wanted) const;

private:
  struct Level {
    explicit Level(std::string name) : name(std::move(name)) {}
    const std::string name;
    std::atomic<uint64_t> hits{0}, accesses{0};
  };

  std::string counts(bool withNames) const;
  std::string kernels() const;
  std::string line(const std::string& text) const {
    return "[proteus][" + label_ + "] " + text + "\n";
  }

  const std::string label_;
  const bool countsLaunches_; ///< else every use is one
  mutable std::mutex mutex_;  ///< of entries_
  std::map<uint64_t, std::unique_ptr<Entry>> entries_;
  std::deque<Level> levels_;
};

} // namespace mneme::jit
