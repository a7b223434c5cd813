#include "runtime/emulator/executor/pool.h"

#include <chrono>
#include <climits>
#include <cstdlib>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/log.h"
#include "runtime/emulator/executor/block.h"
#include "runtime/emulator/executor/fault.h"

namespace mneme::device::cpu {

namespace {

std::atomic<Pool*> currentPool{nullptr};

void futexWait(std::atomic<uint32_t>& word, uint32_t value, const timespec* timeout) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, timeout, nullptr, 0);
}

void futexWake(std::atomic<uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void pauseBriefly() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

uint32_t countWorkers() {
  if (const char* text = environmentValue("MNEME_CPU_THREADS")) {
    const long wanted = strtol(text, nullptr, 10);
    if (wanted >= 1 && wanted <= 4096)
      return static_cast<uint32_t>(wanted);
    log(LogLevel::Warn, "MNEME_CPU_THREADS='" + std::string(text) +
                            "' is not a number of threads from 1 to 4096; all cores are used");
  }
  const long configured = sysconf(_SC_NPROCESSORS_CONF);
  const int limit = std::max<int>(1024, static_cast<int>(configured));
  cpu_set_t* set = CPU_ALLOC(limit);
  int count = 0;
  if (set && sched_getaffinity(0, CPU_ALLOC_SIZE(limit), set) == 0)
    count = CPU_COUNT_S(CPU_ALLOC_SIZE(limit), set);
  CPU_FREE(set);
  return count > 0 ? static_cast<uint32_t>(count) : 1;
}

} // namespace

// Host programs expect their signals on their own threads; faults and our stop signal stay open.
void blockHostSignals() {
  sigset_t mask;
  sigfillset(&mask);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    sigdelset(&mask, signal);
  for (int signal = SIGRTMIN; signal < SIGRTMAX; ++signal)
    sigdelset(&mask, signal);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

namespace {

/// Threads created in this scope start with the host's signals blocked.
class SignalBlock {
public:
  SignalBlock() {
    pthread_sigmask(SIG_SETMASK, nullptr, &before_);
    blockHostSignals();
  }
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

} // namespace

namespace {

std::mutex spareMutex;
/// Pools that are not leased; their threads sleep.
std::vector<Pool*>& sparePools() {
  static auto* pools = new std::vector<Pool*>;
  return *pools;
}

} // namespace

PoolLease::PoolLease(bool isOwn) : isOwn_(isOwn), pool_(nullptr) {
  if (!isOwn) {
    pool_ = &Pool::instance();
    return;
  }
  const std::lock_guard lock(spareMutex);
  if (sparePools().empty()) {
    pool_ = new Pool(Pool::instance().size());
  } else {
    pool_ = sparePools().back();
    sparePools().pop_back();
  }
}

PoolLease::~PoolLease() {
  if (!isOwn_)
    return;
  const std::lock_guard lock(spareMutex);
  sparePools().push_back(pool_);
}

Pool& Pool::instance() {
  Pool* pool = currentPool.load(std::memory_order_acquire);
  if (pool)
    return *pool;
  static std::once_flag once;
  std::call_once(once, [] {
    // The child of a fork has none of the threads; the parent's pool is left alone in its memory.
    pthread_atfork(nullptr, nullptr, [] {
      currentPool.store(nullptr);
      sparePools().clear();
    });
  });
  Pool* fresh = new Pool(countWorkers());
  if (!currentPool.compare_exchange_strong(pool, fresh)) {
    delete fresh; // another thread was faster; this one has no threads yet
    return *pool;
  }
  return *fresh;
}

Pool::Pool(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    workers_.push_back(std::make_unique<Worker>(i));
    helpers_.push_back(std::make_unique<Helper>());
  }
}

void Pool::startHelpers() {
  hasHelpers_ = true;
  SignalBlock block;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 8 << 20);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  for (uint32_t i = 1; i < size(); ++i) {
    using Start = std::pair<Pool*, Worker*>;
    auto* start = new Start(this, workers_[i].get());
    auto run = [](void* argument) -> void* {
      auto* given = static_cast<Start*>(argument);
      auto [pool, worker] = *given;
      delete given;
      pool->helperMain(*worker);
      return nullptr;
    };
    if (pthread_create(&workers_[i]->thread, &attributes, run, start) != 0) {
      delete start;
      log(LogLevel::Warn, "only " + std::to_string(i) + " of " + std::to_string(size()) +
                              " worker threads could be created");
      workers_.resize(i);
      break;
    }
  }
  pthread_attr_destroy(&attributes);
}

void Pool::helperMain(Worker& worker) {
  pthread_setname_np(pthread_self(), "mneme-cpu");
  std::atomic<uint32_t>& ticket = helpers_[worker.index]->ticket;
  for (uint32_t seen = 0;;) {
    while (ticket.load(std::memory_order_acquire) == seen)
      futexWait(ticket, seen, nullptr);
    ++seen;
    worker.isRunning.store(true, std::memory_order_release);
    job_(worker, argument_);
    worker.isRunning.store(false, std::memory_order_release);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      futexWake(pending_);
  }
}

uint32_t Pool::require(uint32_t wanted) {
  if (wanted > 1 && !hasHelpers_)
    startHelpers();
  return std::min(wanted, size());
}

void Pool::run(uint32_t participants, Job job, void* argument, const std::atomic<bool>* stopping) {
  participants = require(participants);
  job_ = job;
  argument_ = argument;
  pending_.store(participants - 1, std::memory_order_relaxed);
  for (uint32_t i = 1; i < participants; ++i) {
    helpers_[i]->ticket.fetch_add(1, std::memory_order_release);
    futexWake(helpers_[i]->ticket);
  }
  Worker& self = *workers_[0];
  self.thread = pthread_self();
  self.isRunning.store(true, std::memory_order_release);
  job(self, argument);
  self.isRunning.store(false, std::memory_order_release);
  waitForHelpers(stopping);
}

void Pool::waitForHelpers(const std::atomic<bool>* stopping) {
  for (int i = 0; i < 1000 && pending_.load(std::memory_order_acquire) != 0; ++i)
    pauseBriefly();
  for (;;) {
    const uint32_t left = pending_.load(std::memory_order_acquire);
    if (left == 0)
      return;
    const timespec period{0, 10'000'000};
    futexWait(pending_, left, stopping ? &period : nullptr);
    if (stopping && stopping->load(std::memory_order_relaxed))
      interruptAll(workers_[0].get());
  }
}

uint64_t Pool::progressOf(uint32_t participants) const noexcept {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < participants; ++i)
    sum += workers_[i]->progress.load(std::memory_order_relaxed);
  return sum;
}

uint64_t Pool::residentBlocks(uint32_t participants) const noexcept {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < participants; ++i)
    sum += workers_[i]->residentBlocks.load(std::memory_order_relaxed);
  return sum;
}

bool Pool::haveAllStalled(uint32_t participants, uint64_t progress,
                          uint32_t checks) const noexcept {
  for (uint32_t i = 0; i < participants; ++i) {
    const Worker& worker = *workers_[i];
    if (worker.isRunning.load(std::memory_order_acquire) &&
        (worker.stalledAt.load(std::memory_order_relaxed) != progress ||
         worker.stallChecks.load(std::memory_order_relaxed) < checks))
      return false;
  }
  return true;
}

void Pool::interruptAll(const Worker* self) noexcept {
  for (const auto& worker : workers_) {
    if (worker.get() != self)
      interruptWorker(*worker);
  }
}

void Pool::armTimeout(LaunchState& state, double seconds) {
  using namespace std::chrono;
  std::lock_guard lock(watchdogMutex_);
  armed_ = &state;
  deadline_ = steady_clock::now() +
              duration_cast<steady_clock::duration>(duration<double>(std::min(seconds, 1e8)));
  if (!hasWatchdog_) {
    hasWatchdog_ = true;
    SignalBlock block;
    std::thread(&Pool::watchdogMain, this).detach();
  }
  if (isWatchdogIdle_)
    watchdogSignal_.notify_one();
}

void Pool::disarmTimeout() {
  std::lock_guard lock(watchdogMutex_);
  armed_ = nullptr;
}

// Polls while launches with a timeout come and sleeps when there were none for a second, so that
// arming costs an uncontended lock and no wake-up.
void Pool::watchdogMain() {
  using namespace std::chrono;
  pthread_setname_np(pthread_self(), "mneme-watchdog");
  std::unique_lock lock(watchdogMutex_);
  auto lastArmed = steady_clock::now();
  for (;;) {
    const auto now = steady_clock::now();
    if (armed_)
      lastArmed = now;
    if (!armed_ && now - lastArmed > seconds(1)) {
      isWatchdogIdle_ = true;
      watchdogSignal_.wait(lock, [this] { return armed_ != nullptr; });
      isWatchdogIdle_ = false;
      continue;
    }
    if (armed_ && now >= deadline_) {
      char limit[32];
      snprintf(limit, sizeof limit, "%g", armed_->timeoutSeconds);
      armed_->fail(FaultKind::Timeout, "kernel '" + std::string(armed_->header->kernelName) +
                                           "' did not finish within " + limit + " s");
      interruptAll(nullptr);
    }
    auto wake = now + milliseconds(10);
    if (armed_ && now < deadline_)
      wake = std::min(wake, deadline_);
    watchdogSignal_.wait_until(lock, wake);
  }
}

uint32_t workerCount() noexcept { return Pool::instance().size(); }

} // namespace mneme::device::cpu
