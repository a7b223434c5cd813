// Room core/base: keeps signals of failed writes away from the application.
#pragma once

#include <signal.h>

namespace mneme {

/// A write to a pipe without a reader, or beyond the limit of file sizes, raises SIGPIPE or
/// SIGXFSZ, which end a program or run its handlers. While this object lives, neither reaches the
/// calling thread; the failed write() reports the same in errno. The process's signal dispositions
/// stay unchanged.
class BlockedWriteSignals {
public:
  BlockedWriteSignals() noexcept;
  /// Removes pending signals that our own writes raised; signals that were pending before stay.
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
