// Room record: who may call the vendor's runtime while the recorder wants to be alone with it.
// Knows neither session nor vendor.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace mneme::record {

/// Calls of the application pass through it; a recording, a fork and the end of the session shut it
/// and are then alone. Who wants to shut it comes first: nobody is let in from then on, so that the
/// wait is as long as the calls under way, however many threads make more of them. One at a time
/// has it shut; those who wait sleep.
///
/// A place inside belongs to nobody: another thread may leave it or open what the first one shut,
/// as when a thread dies or jumps out of a call. Nothing here allocates, throws or is a
/// cancellation point, and all of it may be called in a signal handler.
class Gate {
public:
  using Milliseconds = std::chrono::milliseconds;

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Waits while the gate is shut. A thread that is inside must not enter again.
  void enter() noexcept;
  void leave() noexcept;

  /// Shuts the gate and waits until everybody has left. A call inside may itself wait for a thread
  /// that is kept outside; so when nobody has left for a while, those who wait are let in and it is
  /// tried again with more patience. False, and the gate is open, once nobody has left for
  /// `patience`; what was waited for is three times that at most, apart from calls that did end.
  /// Not waited for is another who had it shut and from whom those outside have taken it.
  bool shut(Milliseconds patience) noexcept;
  /// Shuts the gate and leaves it shut although calls may still be under way, after `forCalls` in
  /// which none has ended. False if another has had it shut for `forTurn`.
  bool shutAnyway(Milliseconds forTurn, Milliseconds forCalls) noexcept;
  /// After a successful shut().
  void open() noexcept;

  /// For who has it shut and waits for something that may need a thread which is kept outside:
  /// those who have waited there for `patience` from now on open the gate themselves.
  void yieldAfter(Milliseconds patience) noexcept;
  /// The wait is over. False if the gate was opened meanwhile; then it stays so, though open() is
  /// still to be called.
  bool endYielding() noexcept;
  /// For the same: false once the others have opened it.
  bool isShut() const noexcept;

  /// In the child of fork(), where no other thread is left; `isInside`: the forking one is.
  void resetInChild(bool isInside) noexcept;

private:
  bool takeTurn(Milliseconds patience) noexcept;
  void giveTurn() noexcept;
  bool waitForLeaving(Milliseconds patience) noexcept;
  void waitOutside(uint32_t seen) noexcept;
  void letIn(uint32_t removed) noexcept;

  std::atomic<uint32_t> state_{0}; ///< how many are inside, and flags
  std::atomic<uint32_t> turn_{0};  ///< of those who shut: 0 free, 1 taken, 2 taken and waited for
  std::atomic<uint32_t> turns_{0}; ///< how many there were
  std::atomic<int64_t> yieldsAtNs_{0};
};

} // namespace mneme::record
