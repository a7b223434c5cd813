// Room emulator/executor: which blocks of a launch on fibers run when. Internal.
//
// A block whose threads all wait (see Block::yield) makes room: its worker goes on with another of
// its blocks, or begins one that has not started. So blocks may wait for each other in either
// direction as long as all they wait for are *resident*, that is begun and not finished. A GPU
// holds only so many blocks as well; here memory for their stacks is the limit.
#pragma once

#include "runtime/emulator/executor/launch_state.h"

namespace mneme::device::cpu {

/// Most blocks one worker may hold resident, from the launch's shape and the machine's memory.
uint64_t residentLimit(const LaunchState& state) noexcept;

/// Makes the blocks with which `worker` begins, before device code starts. \throws std::bad_alloc
void prepareBlocks(Worker& worker, LaunchState& state);

/// Runs blocks until there are none left for this worker. The blocks of a cooperative launch are
/// all begun at once; others begin in linear order.
void runBlocks(Worker& worker, LaunchState& state);

/// Gives back the memory of a launch that held very many threads. No block may be running.
void releaseBlocks(Worker& worker) noexcept;

/// Seconds for which every thread of a launch may wait in loops that only another thread can end,
/// before the launch fails (MNEME_CPU_STALL_SECONDS, by default 60; 0: for ever).
double stallSeconds() noexcept;

} // namespace mneme::device::cpu
