// Room recorder: tracks the call that a thread is in, to detect threads that leave it other than by
// returning; and the clock of the session's sources.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/cancellation.h"
#include "runtime/recorder/gate.h"
#include "runtime/recorder/patience.h"

namespace mneme::record {

/// Whether this thread is in a call that the recorder has taken over: functions that the vendor's
/// runtime calls from there are not calls of the application. If the call was left by longjmp, this
/// function gives it up: its place in the gate is free again.
bool isInsideCall() noexcept;
/// Whether any thread has left a call by longjmp or by ending. Other locks it held stay locked.
bool wasAnyCallLeft() noexcept;
/// Gives up the present call, if any, in a thread that ends the process. Takes no lock.
void giveUpCall() noexcept;

/// A thread's outermost call of the recorder. Make it on the stack, and only where isInsideCall()
/// is false.
class Call {
public:
  enum class Kind : uint8_t {
    Recorder, ///< one of the recorder's own calls of the vendor
    Passing,  ///< has entered the gate
    Alone,    ///< has shut the gate
  };
  Call(Gate& gate, Kind kind) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

private:
  volatile uint64_t mark_; ///< has another value once the stack is used for something else
};

/// Shuts the gate for work that must be alone with the vendor's runtime. Threads that want to pass
/// wait. Signals wait, too, once the gate is shut, because a handler might use longjmp.
class Alone {
public:
  enum class Signals : bool { Handled, Held };
  /// Patience at the end of the process: for a recording of another thread, and for other calls,
  /// which change nothing that the end needs.
  static constexpr Gate::Milliseconds kRecordingPatience{5000}, kCallPatience{100};

  /// Like Gate::shut().
  Alone(Gate& gate, Gate::Milliseconds patience, Signals signals) noexcept
      : Alone(gate, gate.shut(patience), signals) {}
  /// For the end of the process: waits for a recording of another thread, but hardly for other
  /// calls.
  static Alone atTheEnd(Gate& gate) noexcept;
  ~Alone() noexcept(false);
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  /// False if the gate could not be shut, or if waiting() let others in.
  bool isAlone() const noexcept { return isAlone_; }

  /// Waits for the application's work, which may need one of the threads outside: they are let in
  /// after `forOthers`, signals at once. `action` takes a Patience that ends after `atMost`, or
  /// when others have been let in.
  template <typename Action>
  auto waiting(Gate::Milliseconds forOthers, std::chrono::nanoseconds atMost,
               const Action& action) {
    const Wait wait(*this, forOthers);
    return action(Patience(atMost, isShut_ ? &gate_ : nullptr));
  }

private:
  Alone(Gate& gate, bool isShut, Signals signals) noexcept;

  class Wait {
  public:
    Wait(Alone& owner, Gate::Milliseconds patience) noexcept;
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

  private:
    Alone& owner_;
    std::optional<SignalsOfCaller> signals_;
  };

  DeferredCancellation cancellation_;
  Gate& gate_;
  const bool isShut_;
  bool isAlone_ = isShut_;
  std::optional<BlockedSignals> signals_;
  const Call call_;
};

inline uint64_t nowNs() noexcept {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

} // namespace mneme::record
