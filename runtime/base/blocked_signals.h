// Room base: threads of ours inside somebody's application.
#pragma once

#include <csignal>

#include <pthread.h>

namespace mneme {

/// Blocks every signal in the calling thread, and so in threads it starts, while it lives. Signals
/// are the application's: its threads handle them, ours never do.
class BlockedSignals {
public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
  sigset_t before_{};
};

} // namespace mneme
