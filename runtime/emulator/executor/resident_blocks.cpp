#include "runtime/emulator/executor/resident_blocks.h"

#include <algorithm>
#include <cstdlib>

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/emulator/executor/block.h"
#include "runtime/emulator/executor/pool.h"

namespace mneme::device::cpu {

namespace {

/// So long a worker's blocks may wait, and none finish, before it begins one more.
constexpr uint64_t kPatienceNs = 200'000;
/// What a thread that waits has touched of its stack.
constexpr uint64_t kTouchedStackBytes = 8 * 1024;
/// Threads of a GPU's multiprocessor, of which every worker stands for one.
constexpr uint64_t kThreadsPerMultiprocessor = 2048;
/// More fibers than this are given back after the launch.
constexpr size_t kFibersKept = 8192;
constexpr uint64_t kStallCheckNs = 100'000'000;
/// So many checks every worker has to have made without seeing progress before a launch counts as
/// stalled: one that is short of processor time has not waited.
constexpr uint32_t kStallChecks = 3;

uint64_t nowNs() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t physicalBytes() noexcept {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Makes a block of this or an earlier launch one that may begin.
void readyBlock(Block& block, SharedBuffer& buffer, Worker& worker, LaunchState& state) {
  block.prepare(worker, state);
  block.shared = buffer.require(state.sharedBytes, state.sharedAlignBytes);
  block.isFinished = true;
}

void addBlock(Worker& worker, LaunchState& state) {
  const bool isFirst = worker.blocks.empty();
  auto block = std::make_unique_for_overwrite<Block>();
  readyBlock(*block, isFirst ? worker.shared : block->ownShared, worker, state);
  worker.blocks.push_back(std::move(block));
}

/// A block of this worker that is not in use; may make one while device code is running.
Block& spareBlock(Worker& worker, LaunchState& state) {
  for (const auto& block : worker.blocks)
    if (block->isFinished)
      return *block;
  bool isMade = false;
  {
    ServiceScope guard(worker);
    try {
      addBlock(worker, state);
      isMade = true;
    } catch (const std::bad_alloc&) {
      state.fail(FaultKind::OutOfMemory, "there is no memory for " +
                                             std::to_string(worker.blocks.size() + 1) +
                                             " blocks at once that wait for each other");
    }
  }
  if (!isMade)
    worker.escapeDevice();
  return *worker.blocks.back();
}

/// One worker's blocks. Holds nothing: device code is left by longjmp.
class Turns {
public:
  Turns(Worker& worker, LaunchState& state) noexcept : worker_(worker), state_(state) {}

  void run() {
    setBegun(state_.isCooperative ? worker_.blocks.size() : 0);
    while (Block* block = next()) {
      checkStop(worker_);
      block->resume();
      if (!block->isFinished) {
        waited();
        continue;
      }
      setBegun(begun_ - 1);
    }
  }

private:
  void setBegun(uint64_t count) noexcept {
    begun_ = count;
    waitingSinceNs_ = 0;
    worker_.residentBlocks.store(count, std::memory_order_relaxed);
    worker_.progress.fetch_add(1, std::memory_order_relaxed);
  }

  Block* next() {
    if (!state_.isCooperative && (begun_ == 0 || isImpatient()))
      if (Block* block = beginNext())
        return block;
    return begun_ == 0 ? nullptr : nextBegun();
  }

  bool isImpatient() const noexcept {
    return waitingSinceNs_ != 0 &&
           state_.nextBlock.load(std::memory_order_relaxed) < state_.blockCount &&
           nowNs() - waitingSinceNs_ > kPatienceNs;
  }

  /// Null when all blocks have begun or no more may be resident.
  Block* beginNext() {
    if (begun_ >= state_.residentLimit)
      return nullptr;
    const uint64_t index = state_.nextBlock.fetch_add(1, std::memory_order_relaxed);
    if (index >= state_.blockCount)
      return nullptr;
    checkStop(worker_);
    Block& block = spareBlock(worker_, state_);
    block.begin(state_.blockAfter(index), block.shared);
    setBegun(begun_ + 1);
    return &block;
  }

  Block* nextBegun() noexcept {
    do {
      turn_ = turn_ + 1 < worker_.blocks.size() ? turn_ + 1 : 0;
    } while (worker_.blocks[turn_]->isFinished);
    return worker_.blocks[turn_].get();
  }

  /// After a turn in which every thread of a block did nothing but wait.
  void waited() {
    if (waitingSinceNs_ == 0)
      waitingSinceNs_ = nowNs();
    if (++idleTurns_ % std::max<uint64_t>(16, begun_) != 0)
      return;
    sched_yield();
    const uint64_t now = nowNs();
    if (now - lastCheckNs_ < kStallCheckNs)
      return;
    lastCheckNs_ = now;
    checkStall(now);
  }

  void checkStall(uint64_t now) {
    const double limit = stallSeconds();
    const uint64_t progress = state_.pool->progressOf(state_.participants);
    const bool isWaitedFor = !state_.waiting || *state_.waiting > 0;
    if (progress != worker_.stalledAt.exchange(progress, std::memory_order_relaxed) ||
        !isWaitedFor) {
      worker_.stallChecks.store(0, std::memory_order_relaxed);
      stalledSinceNs_ = now;
      return;
    }
    worker_.stallChecks.fetch_add(1, std::memory_order_relaxed);
    if (limit > 0 && static_cast<double>(now - stalledSinceNs_) * 1e-9 > limit &&
        state_.pool->haveAllStalled(state_.participants, progress, kStallChecks))
      failStalled(limit);
  }

  [[noreturn]] void failStalled(double limit) {
    {
      ServiceScope guard(worker_);
      const uint64_t resident = state_.pool->residentBlocks(state_.participants);
      const uint64_t begun =
          std::min(state_.nextBlock.load(std::memory_order_relaxed), state_.blockCount);
      char seconds[32];
      snprintf(seconds, sizeof seconds, "%g", limit);
      std::string text = "kernel '" + std::string(state_.header->kernelName) +
                         "' waits for what does not happen: for " + seconds + " s all threads of " +
                         std::to_string(resident) + " running blocks have done nothing else";
      if (!state_.isCooperative && begun < state_.blockCount)
        text += ", and " + std::to_string(state_.blockCount - begun) +
                " blocks cannot start before one of them ends";
      state_.fail(FaultKind::Deadlock, text + " (MNEME_CPU_STALL_SECONDS sets the limit)");
    }
    worker_.escapeDevice();
  }

  Worker& worker_;
  LaunchState& state_;
  uint64_t begun_ = 0; ///< and not finished
  size_t turn_ = 0;
  uint64_t waitingSinceNs_ = 0; ///< 0: a block has begun or finished, and none waited since
  uint64_t lastCheckNs_ = 0;
  uint64_t stalledSinceNs_ = 0;
  uint64_t idleTurns_ = 0;
};

} // namespace

double stallSeconds() noexcept {
  static const double seconds = [] {
    const char* text = environmentValue("MNEME_CPU_STALL_SECONDS");
    return text ? std::strtod(text, nullptr) : 60.0;
  }();
  return seconds;
}

uint64_t residentLimit(const LaunchState& state) noexcept {
  const uint64_t threads = state.threadsPerBlock;
  const uint64_t blockBytes =
      sizeof(Block) + state.sharedBytes + threads * (kTouchedStackBytes + state.header->localBytes);
  const uint64_t byMemory = physicalBytes() / 4 / blockBytes;
  const uint64_t asOnGpu =
      state.participants * std::max<uint64_t>(1, kThreadsPerMultiprocessor / threads);
  return std::max<uint64_t>(1, std::max(byMemory, asOnGpu) / state.participants);
}

void prepareBlocks(Worker& worker, LaunchState& state) {
  worker.fibers.setStackBytes(state.stackBytes);
  uint64_t count = 1;
  if (state.isCooperative)
    count = state.blockCount > worker.index
                ? (state.blockCount - 1 - worker.index) / state.participants + 1
                : 0;
  worker.blocks.resize(std::min<uint64_t>(worker.blocks.size(), count));
  for (const auto& block : worker.blocks)
    readyBlock(*block, block == worker.blocks.front() ? worker.shared : block->ownShared, worker,
               state);
  while (worker.blocks.size() < count)
    addBlock(worker, state);
  if (state.isCooperative)
    for (uint64_t i = 0; i < count; ++i)
      worker.blocks[i]->begin(worker.index + i * state.participants, worker.blocks[i]->shared);
}

void runBlocks(Worker& worker, LaunchState& state) { Turns(worker, state).run(); }

void releaseBlocks(Worker& worker) noexcept {
  if (worker.fibers.size() <= kFibersKept)
    return;
  worker.blocks.clear();
  worker.fibers.releaseAll();
}

} // namespace mneme::device::cpu
