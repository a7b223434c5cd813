// Room record: waiting for what may itself wait for the program, and so has to end some time. Knows
// neither session nor vendor.
#pragma once

#include <chrono>

#include "runtime/record/gate.h"

namespace mneme::record {

/// For how long something is waited for.
class Patience {
public:
  using Clock = std::chrono::steady_clock;

  /// From now on. With a gate it is over, too, when others have opened that: what is waited for is
  /// of no use then.
  explicit Patience(std::chrono::nanoseconds atMost, const Gate* gate = nullptr) noexcept
      : end_(Clock::now() + atMost), gate_(gate) {}

  bool isOver() const noexcept { return Clock::now() >= end_ || (gate_ && !gate_->isShut()); }

private:
  Clock::time_point end_;
  const Gate* gate_;
};

/// To be called between two questions, when so much time has gone by since the first: short work is
/// asked about without a pause, long work ever more seldom.
void pauseAfter(std::chrono::nanoseconds waited) noexcept;

/// Asks until it is so, once at least. False if the patience was over first. May be left by a jump.
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
