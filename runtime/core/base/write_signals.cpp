#include "runtime/core/base/write_signals.h"

#include <initializer_list>

#include <errno.h>
#include <pthread.h>
#include <time.h>

namespace mneme {

BlockedWriteSignals::BlockedWriteSignals() noexcept {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGPIPE);
  sigaddset(&both, SIGXFSZ);
  sigemptyset(&raised_);
  sigpending(&waiting_);
  pthread_sigmask(SIG_BLOCK, &both, &before_);
}

void BlockedWriteSignals::noteFailure(int errorNumber) noexcept {
  if (errorNumber == EPIPE && !sigismember(&waiting_, SIGPIPE))
    sigaddset(&raised_, SIGPIPE);
  if (errorNumber == EFBIG && !sigismember(&waiting_, SIGXFSZ))
    sigaddset(&raised_, SIGXFSZ);
}

BlockedWriteSignals::~BlockedWriteSignals() {
  const int kept = errno;
  const timespec now{};
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    if (!sigismember(&raised_, signal))
      continue;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    // The thread's own signal is taken first; one that was sent to the process stays pending.
    while (sigtimedwait(&one, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = kept;
}

} // namespace mneme
