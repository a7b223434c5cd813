// Room devices/profile: collects the times of a process's kernels, by kernel and launch shape. The
// runtimes on the CPU device, or a profiler's library on GPUs, add times; the file is written at
// exit.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/devices/device.h"

namespace mneme::profile {

/// Returns the directory MNEME_PROFILE_DIR, into which each process writes its own file; empty:
/// nothing is measured.
std::filesystem::path directory();

/// Times of some launches, evenly spread over all of them, in little memory.
class Sample {
public:
  void add(uint64_t ns);
  uint64_t count() const noexcept { return count_; }
  uint64_t totalNs() const noexcept { return totalNs_; }
  uint64_t medianNs() const; ///< of the kept times; 0 without any
  /// Returns the number of the launch, from 0, before which half of the time was spent: it
  /// represents the others if their work changes.
  uint64_t middle() const;

private:
  std::vector<uint64_t> kept_; ///< every stride_-th time
  uint64_t stride_ = 1;
  uint64_t count_ = 0;
  uint64_t totalNs_ = 0;
};

/// Thread-safe.
class KernelTimes {
public:
  /// `timer` is the name of the timer, for the file and its name.
  explicit KernelTimes(std::string timer);

  /// \param kernel  mangled name, as the device knows it
  /// \param ns      execution time on the device
  void note(std::string_view kernel, const device::LaunchShape& shape, uint64_t ns);

  /// Writes `<folder>/<process id>-<timer>.json`: {"format": 1, "timer", "pid", "rows": [{"kernel",
  /// "grid", "block", "shared", "launches", "total_ns", "median_ns", "middle"}]}. Writes nothing
  /// without launches.
  /// \throws Error{IoFailed}
  void write(const std::filesystem::path& folder) const;

private:
  using Shape = std::array<uint64_t, 7>; ///< grid, block, dynamic shared bytes

  std::string timer_;
  mutable std::mutex mutex_;
  std::map<std::string, std::map<Shape, Sample>, std::less<>> kernels_;
};

/// Returns the times of this process, which are written at its exit; null if MNEME_PROFILE_DIR is
/// not set. Children of fork() write nothing.
KernelTimes* kernelTimes(const char* timer) noexcept;

} // namespace mneme::profile
