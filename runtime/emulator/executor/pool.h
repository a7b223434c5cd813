// Room emulator/executor: the worker threads, made at the first use and again in a forked child.
// Internal.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/emulator/executor/launch_state.h"

namespace mneme::device::cpu {

/// Worker 0 is the thread that calls run(); the others are helpers that sleep between jobs. The
/// pool is never destroyed: the process may end while helpers sleep.
class Pool {
public:
  using Job = void (*)(Worker& worker, void* argument);

  /// The pool of this process. Thread-safe.
  static Pool& instance();
  /// Number of workers, the caller included.
  uint32_t size() const noexcept { return static_cast<uint32_t>(workers_.size()); }

  /// Makes sure that `wanted` workers exist as threads; returns how many there are of them.
  uint32_t require(uint32_t wanted);
  /// Runs `job` on `participants` workers at once and returns when all have returned. One at a
  /// time: the caller holds `mutex()`. With `stopping` set and true, workers in device code are
  /// interrupted.
  void run(uint32_t participants, Job job, void* argument, const std::atomic<bool>* stopping);
  std::mutex& mutex() noexcept { return mutex_; }
  /// What the first `participants` workers have counted as progress.
  uint64_t progressOf(uint32_t participants) const noexcept;
  /// Their blocks that have begun and not finished.
  uint64_t residentBlocks(uint32_t participants) const noexcept;
  /// Whether each of them has ended its share or has found that number so many times.
  bool haveAllStalled(uint32_t participants, uint64_t progress, uint32_t checks) const noexcept;

  /// Interrupts all workers in device code but `self` (null: all).
  void interruptAll(const Worker* self) noexcept;

  /// Fails `state` when it is still armed `seconds` from now.
  void armTimeout(LaunchState& state, double seconds);
  void disarmTimeout();

private:
  friend class PoolLease;
  explicit Pool(uint32_t count);
  void startHelpers();
  void helperMain(Worker& worker);
  void waitForHelpers(const std::atomic<bool>* stopping);
  void watchdogMain();

  struct Helper {
    alignas(64) std::atomic<uint32_t> ticket{0};
  };

  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Helper>> helpers_;
  bool hasHelpers_ = false;
  Job job_ = nullptr;
  void* argument_ = nullptr;
  alignas(64) std::atomic<uint32_t> pending_{0};

  std::mutex watchdogMutex_;
  std::condition_variable watchdogSignal_;
  bool hasWatchdog_ = false;
  bool isWatchdogIdle_ = false;
  LaunchState* armed_ = nullptr;
  std::chrono::steady_clock::time_point deadline_;
};

/// The process's pool, or one of its own for a launch that runs beside others.
class PoolLease {
public:
  explicit PoolLease(bool isOwn);
  ~PoolLease();
  PoolLease(const PoolLease&) = delete;
  PoolLease& operator=(const PoolLease&) = delete;
  Pool& pool() const noexcept { return *pool_; }

private:
  bool isOwn_;
  Pool* pool_;
};

/// Blocks the host program's signals in the calling thread, which runs kernels; faults still reach
/// it.
void blockHostSignals();

/// Splits [0, count) into tasks that all workers take in order; `task(index)` runs on any of them.
/// Serialised with launches.
template <typename Task> void parallelFor(uint64_t count, const Task& task);

} // namespace mneme::device::cpu

#include "runtime/emulator/executor/parallel_for.h"
