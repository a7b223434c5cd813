// Room jit: threads that compile while the program runs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace mneme::jit {

/// Never destroyed: its threads are detached, so that the process can end at any time. They block
/// all signals, which belong to the program.
class Pool {
public:
  explicit Pool(unsigned threads) : maxThreads_(threads) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// `job` runs on another thread, in order of arrival; it must not throw. Thread-safe.
  /// \throws Error{OutOfMemory} if there is no thread and none can be started.
  void submit(std::function<void()> job);

private:
  void work();

  const unsigned maxThreads_;
  std::mutex mutex_;
  std::condition_variable hasJobs_;
  std::deque<std::function<void()>> jobs_;
  unsigned threads_ = 0;
  unsigned idle_ = 0;
};

} // namespace mneme::jit
