// Room emulator/executor: the scheduler of one block of a fiber image. Internal; all calls come
// from the worker that owns the block, so nothing here is atomic.
//
// Threads are numbered linearly. A thread is *ready* (its bit in `ready` is set, also while it
// runs), *parked* (waits in a barrier, a warp operation or active_mask) or has *exited*. Parking
// jumps straight to the next ready thread: one fiber switch per thread and synchronisation.
#pragma once

#include <cstdint>

#include "runtime/emulator/executor/launch_state.h"

namespace mneme::device::cpu {

/// One bit per lane of a warp, which has 32 or 64.
using LaneMask = uint64_t;
constexpr uint32_t maxWarpSize = 64;
constexpr uint32_t maxThreadsPerBlock = 1024;
constexpr uint32_t maxWarps = maxThreadsPerBlock / MNEME_CPU_WARP_SIZE;
constexpr uint32_t barrierCount = 16;
constexpr uint32_t noThread = ~0u;

enum class WarpOperation : uint32_t { Sync, Shuffle, Vote, MatchAny, MatchAll, Reduce };

/// The operands of a lane in a warp operation; `key` distinguishes operations that must not mix.
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
  LaneMask waveWaiting;   ///< lanes parked in a wave operation
  LaneMask yielded;       ///< lanes that yielded while others waited in one of the two
  LaneMask hasActiveMask; ///< lanes that have a mask from active_mask
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
  uint32_t waveSite[maxWarpSize];   ///< the place in the program at which a lane waits
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
  uint32_t* laneFields = nullptr; ///< of a block in rounds (mneme_cpu_lane_field)
  bool isAlwaysMixed = false;     ///< it tells each lane where it goes on
  char* shared = nullptr;
  SharedBuffer ownShared; ///< not used by a worker's first block
  Thread threads[maxThreadsPerBlock];
  Warp warps[maxWarps];
  Barrier barriers[barrierCount];

  /// Sets what is the same for all blocks, once per launch.
  void prepare(Worker& owner, LaunchState& launchState);
  /// Sets the block up with all threads ready and not started.
  void begin(uint64_t blockIndex, char* sharedMemory);
  /// Runs from the worker's own stack until the block is finished or hands over (see yield).
  void resume();

  void barrier(Thread& thread, uint32_t id, uint32_t count);
  void arriveOnly(Barrier& barrier, uint32_t count);
  uint32_t barrierReduce(Thread& thread, uint32_t id, uint32_t operation, uint32_t predicate);
  /// Waits until all live lanes of `mask` have met; the result is in warp.result[lane].
  void meet(Thread& thread, LaneMask mask, const LaneOperands& operands);
  LaneMask activeMask(Thread& thread, const void* site);
  /// The result of a mneme_cpu_wave for this lane.
  uint64_t wave(Thread& thread, uint32_t site, uint32_t operation, uint64_t value,
                uint32_t operand);
  /// Lets other threads run. When all that can run have yielded, the worker continues with another
  /// block.
  void yield(Thread& thread);
  /// Bookkeeping of a thread that returned.
  void exitThread(Thread& thread);

  // For blocks in rounds (block_rounds.cpp), which have no fibers. See mneme_cpu_services for what
  // these return.
  void prepareRounds(Worker& owner, LaunchState& launchState, char* scratch) noexcept;
  void beginRounds(const uint32_t* id) noexcept;
  uint32_t startOfWarp(uint32_t warp) noexcept;
  uint32_t meetInRound(uint32_t warp, uint32_t any, uint32_t all);
  uint32_t endRound();

  Warp& warpOf(const Thread& thread) noexcept { return warps[thread.context.warp]; }
  uint32_t indexOf(const Thread& thread) const noexcept {
    return static_cast<uint32_t>(&thread - threads);
  }
  /// Returns the next ready thread after `from` in cyclic order, or noThread.
  uint32_t nextReady(uint32_t from) const noexcept;
  /// Makes `thread` current: sets up its context if it has not started. Does not jump.
  void makeCurrent(Thread& thread) noexcept;

  /// Chooses what runs after `thread` has exited. Returns its fiber, the worker's own stack if the
  /// block is finished, or null if the chosen thread (then current) has no fiber yet.
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
  /// Lets threads continue that waited only for other lanes of `warp`.
  void resolveWaiting(Warp& warp, uint32_t warpIndex) noexcept;
  [[noreturn]] void failDeadlock();
  /// Fails because a lane takes part in an operation under a mask without it.
  [[noreturn, gnu::cold]] void failOutsideMask(Thread& thread, LaneMask mask, uint32_t key);
  std::string describeStall() const;

  const mneme_cpu_meeting& meetingOf(uint32_t number) const noexcept {
    return state->header->meetings[number - 1];
  }
  /// The field's elements for the lanes of one warp.
  uint32_t* laneField(uint32_t field, uint32_t warp) const noexcept;
  uint32_t lanesOf(uint32_t warp) const noexcept;
  uint32_t operandOf(const mneme_cpu_meeting& meeting, uint32_t field, uint32_t warp,
                     uint32_t lane) const noexcept;
  void takeOperands(const mneme_cpu_meeting& meeting, uint32_t w, uint32_t lane) noexcept;
  void joinRendezvous(const mneme_cpu_meeting& meeting, uint32_t w, uint32_t lane);
  bool arriveTogether(uint32_t number, uint32_t w, LaneMask lanes) noexcept;
  void arriveInRound(uint32_t number, uint32_t w, uint32_t lane);
  void takeAllOperands(const mneme_cpu_meeting& meeting, uint32_t w) noexcept;
  LaneMask groupOf(const mneme_cpu_meeting& meeting, uint32_t w, uint32_t lane) const noexcept;
  bool meetTogether(uint32_t number, uint32_t w) noexcept;
  void completeMeetings(uint32_t w) noexcept;
  void giveResults(uint32_t w) noexcept;
  Thread& describedThread(uint32_t number) noexcept;
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
