#include "runtime/jit/pool.h"

#include <system_error>
#include <thread>

#include "runtime/core/base/blocked_signals.h"
#include "runtime/core/base/error.h"

namespace mneme::jit {

void Pool::submit(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (idle_ < jobs_.size() && threads_ < maxThreads_) {
    try {
      const BlockedSignals blocked;
      std::thread([this] { work(); }).detach();
      ++threads_;
    } catch (const std::system_error& error) {
      if (threads_ == 0) {
        jobs_.pop_back();
        throw Error(ErrorCode::OutOfMemory,
                    std::string("no thread can be started to compile it: ") + error.what());
      }
    }
  }
  hasJobs_.notify_one();
}

void Pool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    hasJobs_.wait(lock, [&] { return !jobs_.empty(); });
    --idle_;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

} // namespace mneme::jit
