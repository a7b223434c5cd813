// Room emulator/executor: what the parts of the executor share during one launch. Internal.
#pragma once

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <pthread.h>

#include "runtime/emulator/executor/executor.h"
#include "runtime/emulator/executor/fiber.h"

namespace mneme::device::cpu {

struct Block;
struct Worker;
class Pool;

/// One launch. Constant except for the atomics and the outcome.
struct LaunchState {
  mneme_cpu_launch launch{};
  const mneme_cpu_image_header* header = nullptr;
  uint64_t blockCount = 0;
  uint32_t threadsPerBlock = 0;
  uint64_t sharedBytes = 0;
  uint64_t sharedAlignBytes = 256;
  size_t stackBytes = 0;
  bool isCooperative = false;
  bool isLoop = false;
  bool isReversed = false; ///< see LaunchShape
  uint32_t participants = 1;
  Pool* pool = nullptr;       ///< whose workers they are
  uint64_t residentLimit = 1; ///< how many unfinished blocks one worker may have
  double timeoutSeconds = 0;
  const std::atomic<int>* waiting = nullptr; ///< see run(); null: the caller waits

  alignas(64) std::atomic<uint64_t> nextBlock{0};
  alignas(64) std::atomic<bool> isStopping{false};
  std::mutex outcomeMutex;
  LaunchOutcome outcome;

  /// The block that begins after `begun` others.
  uint64_t blockAfter(uint64_t begun) const noexcept {
    return isReversed ? blockCount - 1 - begun : begun;
  }
  /// Records the first fault of the launch and makes every worker stop at its next safe point.
  void fail(FaultKind kind, const std::string& message, uint64_t address = 0) noexcept;
};

/// One logical thread. The image sees `context` only.
struct Thread {
  mneme_cpu_context context; // first: the services cast back
  Worker* worker;
  Block* block; ///< null in loop images
  Fiber* fiber; ///< null until started
};

/// Aligned memory that is reused for every block. A write outside of it ends the kernel and does
/// not reach the process's memory: replays try launches with other dimensions than recorded.
class SharedBuffer {
public:
  ~SharedBuffer();
  /// Returns memory of at least this size. Its content is lost if it has to grow.
  /// \throws std::bad_alloc
  char* require(uint64_t sizeBytes, uint64_t alignBytes);

private:
  void release() noexcept;

  char* place_ = nullptr; ///< with what must not be touched on both sides
  uint64_t placeBytes_ = 0;
  char* base_ = nullptr;
  uint64_t capacity_ = 0;
};

/// One operating-system thread's share of the executor. Fields above the line are read by signal
/// handlers of the same thread.
struct Worker {
  volatile sig_atomic_t isInDevice = 0;  ///< faults are the kernel's
  volatile sig_atomic_t isInService = 0; ///< holding locks: asynchronous stops must wait
  sigjmp_buf escape;
  LaunchState* state = nullptr;
  Thread* current = nullptr; ///< the logical thread that runs
  Fiber* currentFiber = nullptr;
  FaultKind pendingKind = FaultKind::None; ///< set by the fault handler, formatted after the escape
  uint64_t pendingAddress = 0;
  // ---
  uint32_t index = 0;
  std::atomic<bool> isRunning{false}; ///< between the first and the last instruction of a launch
  pthread_t thread{};
  Fiber mainFiber;
  FiberPool fibers;
  Thread loopThread{};
  SharedBuffer shared;
  SharedBuffer scratch;
  std::vector<std::unique_ptr<Block>> blocks; ///< of launches on fibers, see resident_blocks.h
  std::unique_ptr<Block> rounds;              ///< of launches in rounds, the block that runs
  /// Counts what shows that a launch gets on: blocks that begin and end, threads that begin to
  /// wait.
  std::atomic<uint64_t> progress{0};
  std::atomic<uint64_t> residentBlocks{0}; ///< begun and not finished
  std::atomic<uint64_t> stalledAt{~0ull};  ///< all workers' progress when this one last looked
  std::atomic<uint32_t> stallChecks{0};    ///< how often it has found it unchanged

  explicit Worker(uint32_t number);
  ~Worker();
  /// Leaves device code for good; call fail() first. Only device code and services may call it.
  [[noreturn]] void escapeDevice() noexcept;
};

/// A block begins with shared memory that says nothing, NaNs in every format: what another block
/// left there could make a wrong kernel's result look right.
inline void forgetShared(char* shared, const LaunchState& state) noexcept {
  if (state.sharedBytes > 0)
    memset(shared, 0xff, state.sharedBytes);
}

/// "block (1,0,0), thread (3,0,0)" of the logical thread that runs on `worker`.
std::string whereIs(const Worker& worker);
std::string whereIs(const Thread& thread);

/// Marks a stretch that holds locks of the host process: an asynchronous stop waits for its end.
class ServiceScope {
public:
  explicit ServiceScope(Worker& worker) noexcept : worker_(worker) { worker_.isInService = 1; }
  ~ServiceScope() { worker_.isInService = 0; }
  ServiceScope(const ServiceScope&) = delete;
  ServiceScope& operator=(const ServiceScope&) = delete;

private:
  Worker& worker_;
};

/// A safe point: leaves device code when the launch is being stopped.
inline void checkStop(Worker& worker) noexcept {
  if (__builtin_expect(worker.state->isStopping.load(std::memory_order_relaxed), 0))
    worker.escapeDevice();
}

} // namespace mneme::device::cpu
