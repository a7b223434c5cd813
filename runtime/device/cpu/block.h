// Room device/cpu: the scheduler of one block of a fiber image. Internal; all calls come from the
// worker that owns the block, so nothing here is atomic.
//
// Threads are numbered linearly. A thread is *ready* (its bit in `ready` is set, also while it
// runs), *parked* (waits in a barrier, a warp operation or active_mask) or has *exited*. Parking
// jumps straight to the next ready thread: one fiber switch per thread and synchronisation.
#pragma once

#include <cstdint>

#include "runtime/device/cpu/launch_state.h"

namespace mneme::device::cpu {

/// One bit per lane of a warp, which has 32 or 64.
using LaneMask = uint64_t;
constexpr uint32_t maxWarpSize = 64;
constexpr uint32_t maxThreadsPerBlock = 1024;
constexpr uint32_t maxWarps = maxThreadsPerBlock / MNEME_CPU_WARP_SIZE;
constexpr uint32_t barrierCount = 16;
constexpr uint32_t noThread = ~0u;

enum class WarpOperation : uint32_t { Sync, Shuffle, Vote, MatchAny, MatchAll, Reduce };

/// What a lane brings to a warp operation; `key` tells operations apart that must not mix.
struct LaneOperands {
  WarpOperation operation;
  uint32_t mode;
  uint64_t value;
  uint32_t operandB;
  uint32_t clamp;
};

/// The lanes of one warp that met at one operation under one mask, and are not complete yet.
/// Lanes under different masks (divergent code) meet separately.
struct Rendezvous {
  LaneMask mask;
  LaneMask arrived;
  uint32_t key;
};

struct Warp {
  LaneMask ready;
  LaneMask live;          ///< lanes that exist and have not exited
  LaneMask activeWaiting; ///< lanes parked in active_mask
  LaneMask waveWaiting;   ///< lanes parked in an operation of those that are together
  LaneMask yielded;       ///< lanes that yielded while others waited in one of the two
  LaneMask hasActiveMask; ///< lanes that hold a mask from active_mask
  uint32_t rendezvousCount;
  Rendezvous rendezvous[maxWarpSize];
  // Per lane: operands are read and results written when the last lane arrives. A lane takes its
  // result before it can arrive again, so back-to-back operations cannot mix.
  uint64_t value[maxWarpSize];
  uint32_t operandB[maxWarpSize];
  uint32_t clamp[maxWarpSize];
  uint64_t result[maxWarpSize];
  uint32_t flag[maxWarpSize];
  const void* activeSite[maxWarpSize];
  LaneMask activeMask[maxWarpSize]; ///< the last answer of active_mask
  uint32_t waveSite[maxWarpSize];   ///< where in the program a lane waits
  uint32_t waveOperation[maxWarpSize];
};

struct Barrier {
  uint32_t arrived;
  uint32_t expected;    ///< 0: every live thread of the block
  uint32_t hasArrivals; ///< threads arrived without waiting: `expected` is a count
  uint32_t generation;
  uint32_t popc, all, any;                            ///< of the predicates so far
  uint32_t resultPopc[2], resultAll[2], resultAny[2]; ///< by parity of the generation
  LaneMask waiting[maxWarps];
};

struct Block {
  Worker* worker = nullptr;
  LaunchState* state = nullptr;
  uint64_t index = 0;
  uint32_t blockId[3] = {0, 0, 0};
  uint32_t threadCount = 0;
  uint32_t warpSize = MNEME_CPU_WARP_SIZE;
  uint32_t warpShift = 5; ///< its logarithm
  uint32_t warpCount = 0;
  uint32_t liveCount = 0;
  uint32_t readyWarps = 0; ///< bit w: warps[w].ready is not 0
  uint32_t usedBarriers = 0;
  bool isFinished = false;
  char* shared = nullptr;
  SharedBuffer ownShared; ///< not used by a worker's first block
  Thread threads[maxThreadsPerBlock];
  Warp warps[maxWarps];
  Barrier barriers[barrierCount];

  /// Once per launch: what is the same for all blocks.
  void prepare(Worker& owner, LaunchState& launchState);
  /// Sets the block up with all threads ready and not started.
  void begin(uint64_t blockIndex, char* sharedMemory);
  /// Runs from the worker's own stack until the block is finished or hands over (see yield).
  void resume();

  void barrier(Thread& thread, uint32_t id, uint32_t count);
  void arriveOnly(Barrier& barrier, uint32_t count);
  uint32_t barrierReduce(Thread& thread, uint32_t id, uint32_t operation, uint32_t predicate);
  /// Returns when all live lanes of `mask` have met; the result is in warp.result[lane].
  void meet(Thread& thread, LaneMask mask, const LaneOperands& operands);
  LaneMask activeMask(Thread& thread, const void* site);
  /// The result of a mneme_cpu_wave for this lane.
  uint64_t wave(Thread& thread, uint32_t site, uint32_t operation, uint64_t value,
                uint32_t operand);
  /// Lets others run. When all that can run have yielded, the worker goes on with another block.
  void yield(Thread& thread);
  /// Bookkeeping of a thread that returned.
  void exitThread(Thread& thread);

  Warp& warpOf(const Thread& thread) noexcept { return warps[thread.context.warp]; }
  uint32_t indexOf(const Thread& thread) const noexcept {
    return static_cast<uint32_t>(&thread - threads);
  }
  /// The next ready thread behind `from` in cyclic order, or noThread.
  uint32_t nextReady(uint32_t from) const noexcept;
  /// Makes `thread` current: sets up its context if it has not started. Does not jump.
  void makeCurrent(Thread& thread) noexcept;

  /// Chooses who runs after `thread` has exited: its fiber, the worker's own stack when the block
  /// is finished, or null when the chosen thread (then current) has no fiber yet.
  Fiber* successorOf(Thread& thread);

private:
  uint32_t resumeBehind_ = 0;

  Fiber* takeFiber();
  void setReady(uint32_t warp, LaneMask lanes) noexcept;
  void park(Thread& thread);
  void switchTo(uint32_t target);
  void openBarrier(uint32_t id) noexcept;
  void arriveAtBarrier(Thread& thread, uint32_t id, uint32_t count);
  void releaseBarrier(Barrier& barrier) noexcept;
  bool isComplete(const Barrier& barrier, bool countExited) const noexcept;
  bool resolveStall() noexcept;
  bool resolveWarpStall(uint32_t warpIndex) noexcept;
  void resolveActiveMask(Warp& warp, uint32_t warpIndex) noexcept;
  void resolveWave(Warp& warp, uint32_t warpIndex) noexcept;
  /// Lets those go on whom only `warp`'s other lanes kept waiting.
  void resolveWaiting(Warp& warp, uint32_t warpIndex) noexcept;
  [[noreturn]] void failDeadlock();
  std::string describeStall() const;
};

/// Computes the results of a complete warp operation for the lanes in `lanes`.
void completeWarpOperation(Warp& warp, WarpOperation operation, uint32_t mode,
                           LaneMask lanes) noexcept;
/// Computes the results of a mneme_cpu_wave for the lanes in `lanes`.
void completeWave(Warp& warp, uint32_t operation, LaneMask lanes) noexcept;

inline LaneMask bitOf(uint32_t lane) noexcept { return LaneMask{1} << lane; }
inline uint32_t lowest(LaneMask lanes) noexcept {
  return static_cast<uint32_t>(__builtin_ctzll(lanes));
}

/// Entry function of every fiber.
void fiberMain(boost::context::detail::transfer_t arrival);

} // namespace mneme::device::cpu
