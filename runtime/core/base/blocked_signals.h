// Room core/base: keeps signals of the application away from our threads.
#pragma once

#include <csignal>

#include <pthread.h>

namespace mneme {

/// While it lives, blocks every signal in the calling thread and in threads it starts. Signals
/// belong to the application: its threads handle them, ours never do.
class BlockedSignals {
public:
  enum class Which : bool { All, ButFaults };
  /// \param which ButFaults for a thread of the application: leaves the signals that the thread
  /// raises itself
  explicit BlockedSignals(Which which = Which::All) noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    if (which == Which::ButFaults)
      for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
        sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
  friend class SignalsOfCaller;
  sigset_t before_{};
};

/// Restores the signals inside a BlockedSignals, while the thread runs a call of the application.
class SignalsOfCaller {
public:
  explicit SignalsOfCaller(const BlockedSignals& blocked) noexcept {
    pthread_sigmask(SIG_SETMASK, &blocked.before_, &ours_);
  }
  ~SignalsOfCaller() { pthread_sigmask(SIG_SETMASK, &ours_, nullptr); }
  SignalsOfCaller(const SignalsOfCaller&) = delete;
  SignalsOfCaller& operator=(const SignalsOfCaller&) = delete;

private:
  sigset_t ours_{};
};

} // namespace mneme
