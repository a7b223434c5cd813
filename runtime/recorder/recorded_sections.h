// Room recorder: sections, the parts of a run that the program itself marks to be recorded
// (mneme/record.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/recorder/kernel_catalog.h"
#include "runtime/recorder/kernel_filter.h"

namespace mneme::record {

/// The sections that are open now. They belong to the process, not to a thread: frameworks launch
/// kernels from threads of their own. Thread-safe.
class RecordedSections {
public:
  explicit RecordedSections(SectionMode mode);

  /// Begins a section and returns its number, above 0. \throws std::regex_error if `kernels` is
  /// not a filter
  int64_t open(const std::string& kernels);
  /// Ends it; a number that is not open is left alone.
  void close(int64_t section);

  /// Whether a launch with these labels, the outermost first, may be recorded now: a section that
  /// is open wants it, or sections do not limit anything. Counts the launch.
  bool wants(const KernelInfo& info, const std::vector<std::string>& labels);

  /// Adds a sentence to the summary, once.
  void remark(const std::string& sentence);
  /// Returns sentences for the summary about what sections came to.
  std::vector<std::string> summary() const;

private:
  /// A filter with what it was asked before: sections begin again and again.
  struct Filter {
    KernelFilter filter;
    std::map<std::string, bool> kernels; ///< by mangled name
    std::map<std::string, bool> labels;  ///< by path
    bool hasMatched = false;
    bool hasMissed = false;
  };
  static bool matches(Filter& filter, const KernelInfo& info, const std::string& path);

  const bool isIgnored_;
  std::atomic<bool> isLimiting_;
  std::atomic<uint64_t> before_{0}; ///< launches before sections limited anything
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Filter>> filters_; ///< by text
  std::map<int64_t, std::shared_ptr<Filter>> open_;
  std::set<std::string> remarks_;
  int64_t begun_ = 0;
  uint64_t inside_ = 0;  ///< launches that a section wanted
  uint64_t outside_ = 0; ///< others
};

/// Whether the program, or a library that is loaded, calls the functions of mneme/record.h.
bool callsSections() noexcept;

} // namespace mneme::record
