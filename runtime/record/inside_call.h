// Room record: what a thread is in the middle of, so that it is found out when a thread leaves in
// another way than by returning; and the clock of the session's sources.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "runtime/base/blocked_signals.h"
#include "runtime/base/cancellation.h"
#include "runtime/record/gate.h"
#include "runtime/record/patience.h"

namespace mneme::record {

/// True while this thread is in a call the recorder has taken over: what the vendor's runtime calls
/// from there is not the application's doing. A call that a jump (longjmp) has left since is given
/// up here: its place in the gate is free again.
bool isInsideCall() noexcept;
/// Whether any thread has left a call by a jump or by its end. What else it held stays held.
bool wasAnyCallLeft() noexcept;
/// Gives up the present call, if any: for a thread that ends the process. Takes no lock.
void giveUpCall() noexcept;

/// A thread's outermost call of the recorder. To be made on the stack, and only where
/// isInsideCall() is false.
class Call {
public:
  enum class Kind : uint8_t {
    Recorder, ///< the recorder's own calls of the vendor
    Passing,  ///< has entered the gate
    Alone,    ///< has shut the gate
  };
  Call(Gate& gate, Kind kind) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

private:
  volatile uint64_t mark_; ///< what is here once the stack is used otherwise is something else
};

/// Shuts the gate for what must be alone with the vendor's runtime. Threads that want to pass wait,
/// and so do signals once the gate is shut: a handler might jump.
class Alone {
public:
  enum class Signals : bool { Handled, Held };
  /// At the end of the process, for what another thread records and for other calls, which change
  /// nothing the end needs.
  static constexpr Gate::Milliseconds kRecordingPatience{5000}, kCallPatience{100};

  /// As Gate::shut().
  Alone(Gate& gate, Gate::Milliseconds patience, Signals signals) noexcept
      : Alone(gate, gate.shut(patience), signals) {}
  /// For the end of the process: what another records is waited for, other calls hardly are.
  static Alone atTheEnd(Gate& gate) noexcept;
  ~Alone() noexcept(false);
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  /// False when the gate was not shut, or others were let in by waiting().
  bool isAlone() const noexcept { return isAlone_; }

  /// Waits for what takes as long as the application's work does, and may need one of the threads
  /// kept outside: they get in after `forOthers`, signals at once. `action` takes a Patience, for
  /// `atMost` and as long as nobody has got in.
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
