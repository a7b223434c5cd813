// Room recorder: waits with a time limit, for work that may itself wait for the program.
// Independent of session and vendor.
#pragma once

#include <chrono>

#include "runtime/recorder/gate.h"

namespace mneme::record {

/// How long a device is waited for to see whether it is idle: one cannot ask without waiting.
inline constexpr std::chrono::milliseconds kAskPatience{20};

/// A time limit for waiting.
class Patience {
public:
  using Clock = std::chrono::steady_clock;

  /// Starts now. With a gate it also ends when other threads have opened the gate, because the
  /// result is useless then.
  explicit Patience(std::chrono::nanoseconds atMost, const Gate* gate = nullptr) noexcept
      : end_(Clock::now() + atMost), gate_(gate) {}

  bool isOver() const noexcept { return Clock::now() >= end_ || (gate_ && !gate_->isShut()); }

private:
  Clock::time_point end_;
  const Gate* gate_;
};

/// Pauses between two checks, given the time since the first: short work is checked without pauses,
/// long work less and less often.
void pauseAfter(std::chrono::nanoseconds waited) noexcept;

/// Calls `isSo` until it returns true, at least once. Returns false if the patience was over first.
/// May be left by longjmp.
template <typename Ask> bool waitUntil(const Ask& isSo, const Patience& patience) {
  const auto begin = Patience::Clock::now();
  while (!isSo()) {
    if (patience.isOver())
      return false;
    pauseAfter(Patience::Clock::now() - begin);
  }
  return true;
}

} // namespace mneme::record
