// Room recorder: keeps threads out of the vendor's runtime while the recorder uses it alone.
// Independent of session and vendor.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace mneme::record {

/// Calls of the application pass through the gate. A recording, a fork and the end of the session
/// shut it and are then alone. A thread that wants to shut it takes precedence: no further call is
/// let in, so it waits only for calls under way, however many threads make new ones. One thread at
/// a time has the gate shut; waiting threads sleep.
///
/// A place inside does not belong to a thread: another thread may leave it or open a gate that the
/// first one shut, as after a thread has died or left a call by longjmp. No function here
/// allocates, throws or is a cancellation point, and all may be called in a signal handler.
class Gate {
public:
  using Milliseconds = std::chrono::milliseconds;

  Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Waits while the gate is shut. A thread that is inside must not enter again.
  void enter() noexcept;
  void leave() noexcept;

  /// Shuts the gate and waits until all threads inside have left. A call inside may itself wait for
  /// a thread that is kept outside. So if no thread has left for a while, waiting threads are let
  /// in, and shut() tries again with more patience. Returns false, with the gate open, once no
  /// thread has left for `patience`. It waits for at most three times as long, apart from calls
  /// that did end. It does not wait for a thread whose shut gate was opened by those outside.
  bool shut(Milliseconds patience) noexcept;
  /// Shuts the gate even if calls are still under way, after `forCalls` in which none has ended.
  /// Returns false if another thread has kept it shut for `forTurn`.
  bool shutAnyway(Milliseconds forTurn, Milliseconds forCalls) noexcept;
  /// Opens the gate after a successful shut().
  void open() noexcept;

  /// For a thread that has the gate shut and waits for something that may need a thread outside:
  /// threads that have waited outside for `patience` from now on open the gate themselves.
  void yieldAfter(Milliseconds patience) noexcept;
  /// Ends the wait. Returns false if the gate was opened meanwhile. It then stays open, but open()
  /// must still be called.
  bool endYielding() noexcept;
  /// For the same thread: returns false once other threads have opened the gate.
  bool isShut() const noexcept;

  /// Resets the gate in the child of fork(), where no other thread exists. `isInside`: whether the
  /// forking thread is inside.
  void resetInChild(bool isInside) noexcept;

private:
  bool takeTurn(Milliseconds patience) noexcept;
  void giveTurn() noexcept;
  bool waitForLeaving(Milliseconds patience) noexcept;
  void waitOutside(uint32_t seen) noexcept;
  void letIn(uint32_t removed) noexcept;

  std::atomic<uint32_t> state_{0}; ///< number of threads inside, and flags
  std::atomic<uint32_t> turn_{0};  ///< to shut the gate: 0 free, 1 taken, 2 taken and awaited
  std::atomic<uint32_t> turns_{0}; ///< number of turns so far
  std::atomic<int64_t> yieldsAtNs_{0};
};

} // namespace mneme::record
