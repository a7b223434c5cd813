// Room base: writing inside somebody's application.
#pragma once

#include <signal.h>

namespace mneme {

/// A write to a pipe that nobody reads, or beyond the size files may have, raises SIGPIPE or
/// SIGXFSZ, which end a program or run its handlers. While this lives neither reaches the calling
/// thread; a write() that fails says the same in errno. Dispositions are the process's and stay as
/// they are.
class BlockedWriteSignals {
public:
  BlockedWriteSignals() noexcept;
  /// Signals that were not waiting before but are now, because a write of ours raised them, are
  /// gone.
  ~BlockedWriteSignals();
  BlockedWriteSignals(const BlockedWriteSignals&) = delete;
  BlockedWriteSignals& operator=(const BlockedWriteSignals&) = delete;

  /// After a write that failed: notes which signal it raised.
  void noteFailure(int errorNumber) noexcept;

private:
  sigset_t before_{};
  sigset_t raised_{};  ///< by writes of ours
  sigset_t waiting_{}; ///< before
};

} // namespace mneme
