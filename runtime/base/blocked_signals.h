// Room base: threads of ours inside somebody's application.
#pragma once

#include <csignal>

#include <pthread.h>

namespace mneme {

/// Blocks every signal in the calling thread, and so in threads it starts, while it lives. Signals
/// are the application's: its threads handle them, ours never do.
class BlockedSignals {
public:
  enum class Which : bool { All, ButFaults };
  /// \param which for a thread of the application: not those that say what it has just done itself
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

/// Within the former, while the thread makes a call of the application: signals come as before.
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
