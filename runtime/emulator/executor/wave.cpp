// Operations of the lanes of a wave that are together. Which those are is only known when no lane
// can move on alone: a lane waits until every other live lane of its wave waits too (here or in a
// barrier) or spins in yield. Then the lanes go on that are first in the program, so that lanes
// that went different ways come together where the ways do.
#include "runtime/emulator/executor/block_switch.h"

namespace mneme::device::cpu {

namespace {

void setAll(Warp& warp, LaneMask lanes, uint64_t result) noexcept {
  for (LaneMask rest = lanes; rest; rest &= rest - 1)
    warp.result[lowest(rest)] = result;
}

LaneMask ballotOf(const Warp& warp, LaneMask lanes) noexcept {
  LaneMask ballot = 0;
  for (LaneMask rest = lanes; rest; rest &= rest - 1)
    if (warp.value[lowest(rest)])
      ballot |= bitOf(lowest(rest));
  return ballot;
}

constexpr uint64_t isPresent = uint64_t{1} << 32;

void readLanes(Warp& warp, LaneMask lanes) noexcept {
  for (LaneMask rest = lanes; rest; rest &= rest - 1) {
    const uint32_t lane = lowest(rest);
    const uint32_t source = warp.operandB[lane];
    const bool isHere = source < maxWarpSize && (lanes & bitOf(source)) != 0;
    warp.result[lane] = isHere ? static_cast<uint32_t>(warp.value[source]) | isPresent : 0;
  }
}

void writeLanes(Warp& warp, LaneMask lanes) noexcept {
  setAll(warp, lanes, 0);
  for (LaneMask rest = lanes; rest; rest &= rest - 1) {
    const uint32_t lane = lowest(rest);
    const uint32_t target = warp.operandB[lane];
    if (target < maxWarpSize && (lanes & bitOf(target)) != 0)
      warp.result[target] = static_cast<uint32_t>(warp.value[lane]) | isPresent;
  }
}

} // namespace

void completeWave(Warp& warp, uint32_t operation, LaneMask lanes) noexcept {
  switch (operation) {
  case MNEME_WAVE_BALLOT:
    setAll(warp, lanes, ballotOf(warp, lanes));
    break;
  case MNEME_WAVE_FIRST:
    setAll(warp, lanes, warp.value[lowest(lanes)]);
    break;
  case MNEME_WAVE_READ:
    readLanes(warp, lanes);
    break;
  case MNEME_WAVE_WRITE:
    writeLanes(warp, lanes);
    break;
  case MNEME_WAVE_REDUCE:
    completeWarpOperation(warp, WarpOperation::Reduce, warp.operandB[lowest(lanes)], lanes);
    break;
  default:
    setAll(warp, lanes, 0);
    break;
  }
}

uint64_t Block::wave(Thread& thread, uint32_t site, uint32_t operation, uint64_t value,
                     uint32_t operand) {
  Warp& warp = warpOf(thread);
  const uint32_t lane = thread.context.lane;
  warp.value[lane] = value;
  warp.operandB[lane] = operand;
  warp.waveSite[lane] = site;
  warp.waveOperation[lane] = operation;
  warp.waveWaiting |= bitOf(lane);
  checkStop(*worker);
  park(thread);
  return warp.result[lane];
}

void Block::resolveWave(Warp& warp, uint32_t warpIndex) noexcept {
  if ((warp.ready & ~warp.yielded & ~warp.waveWaiting) != 0)
    return;
  uint32_t site = ~0u;
  for (LaneMask rest = warp.waveWaiting; rest; rest &= rest - 1)
    site = warp.waveSite[lowest(rest)] < site ? warp.waveSite[lowest(rest)] : site;
  LaneMask group = 0;
  for (LaneMask rest = warp.waveWaiting; rest; rest &= rest - 1)
    if (warp.waveSite[lowest(rest)] == site)
      group |= bitOf(lowest(rest));
  completeWave(warp, warp.waveOperation[lowest(group)], group);
  warp.waveWaiting &= ~group;
  warp.yielded = 0;
  setReady(warpIndex, group);
}

} // namespace mneme::device::cpu
