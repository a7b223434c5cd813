// Warp operations: lanes meet, the last one computes every lane's result.
#include "runtime/emulator/executor/block_switch.h"

namespace mneme::device::cpu {

namespace {

// PTX shfl.sync. A source lane that takes no part leaves the lane's own value.
template <uint32_t mode> void shuffleIn(Warp& warp, LaneMask lanes) noexcept {
  for (LaneMask rest = lanes; rest; rest &= rest - 1) {
    const uint32_t lane = lowest(rest);
    const uint32_t offset = warp.operandB[lane] & 31;
    const uint32_t clamp = warp.clamp[lane] & 31;
    const uint32_t segment = (warp.clamp[lane] >> 8) & 31;
    const auto maxLane = static_cast<int32_t>((lane & segment) | (clamp & ~segment));
    int32_t source = 0;
    switch (mode) {
    case MNEME_SHFL_UP:
      source = static_cast<int32_t>(lane) - static_cast<int32_t>(offset);
      break;
    case MNEME_SHFL_DOWN:
      source = static_cast<int32_t>(lane + offset);
      break;
    case MNEME_SHFL_BFLY:
      source = static_cast<int32_t>(lane ^ offset);
      break;
    default:
      source = static_cast<int32_t>((lane & segment) | (offset & ~segment));
      break;
    }
    const bool inRange = mode == MNEME_SHFL_UP ? source >= maxLane : source <= maxLane;
    const bool isPresent = inRange && ((lanes >> source) & 1) != 0;
    warp.result[lane] = static_cast<uint32_t>(warp.value[isPresent ? source : lane]);
    warp.flag[lane] = inRange;
  }
}

void completeShuffle(Warp& warp, uint32_t mode, LaneMask lanes) noexcept {
  switch (mode) {
  case MNEME_SHFL_UP:
    return shuffleIn<MNEME_SHFL_UP>(warp, lanes);
  case MNEME_SHFL_DOWN:
    return shuffleIn<MNEME_SHFL_DOWN>(warp, lanes);
  case MNEME_SHFL_BFLY:
    return shuffleIn<MNEME_SHFL_BFLY>(warp, lanes);
  default:
    return shuffleIn<MNEME_SHFL_IDX>(warp, lanes);
  }
}

LaneMask ballotOf(const Warp& warp, LaneMask lanes) noexcept {
  LaneMask ballot = 0;
  for (LaneMask rest = lanes; rest; rest &= rest - 1) {
    const uint32_t lane = lowest(rest);
    if (warp.value[lane])
      ballot |= bitOf(lane);
  }
  return ballot;
}

LaneMask voteOf(const Warp& warp, uint32_t mode, LaneMask lanes) noexcept {
  const LaneMask ballot = ballotOf(warp, lanes);
  switch (mode) {
  case MNEME_VOTE_ALL:
    return ballot == lanes;
  case MNEME_VOTE_ANY:
    return ballot != 0;
  case MNEME_VOTE_UNI:
    return ballot == 0 || ballot == lanes;
  default:
    return ballot;
  }
}

LaneMask equalLanes(const Warp& warp, LaneMask lanes, uint64_t value) noexcept {
  LaneMask equal = 0;
  for (LaneMask rest = lanes; rest; rest &= rest - 1) {
    const uint32_t lane = lowest(rest);
    if (warp.value[lane] == value)
      equal |= bitOf(lane);
  }
  return equal;
}

uint32_t combine(uint32_t mode, uint32_t a, uint32_t b) noexcept {
  const auto signedA = static_cast<int32_t>(a), signedB = static_cast<int32_t>(b);
  switch (mode) {
  case MNEME_REDUX_ADD:
    return a + b;
  case MNEME_REDUX_UMIN:
    return a < b ? a : b;
  case MNEME_REDUX_UMAX:
    return a > b ? a : b;
  case MNEME_REDUX_MIN:
    return signedA < signedB ? a : b;
  case MNEME_REDUX_MAX:
    return signedA > signedB ? a : b;
  case MNEME_REDUX_AND:
    return a & b;
  case MNEME_REDUX_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

uint32_t reduceOf(const Warp& warp, uint32_t mode, LaneMask lanes) noexcept {
  auto total = static_cast<uint32_t>(warp.value[lowest(lanes)]);
  for (LaneMask rest = lanes & (lanes - 1); rest; rest &= rest - 1)
    total = combine(mode, total, static_cast<uint32_t>(warp.value[lowest(rest)]));
  return total;
}

void setAll(Warp& warp, LaneMask lanes, uint64_t result, uint32_t flag) noexcept {
  for (LaneMask rest = lanes; rest; rest &= rest - 1) {
    const uint32_t lane = lowest(rest);
    warp.result[lane] = result;
    warp.flag[lane] = flag;
  }
}

} // namespace

void completeWarpOperation(Warp& warp, WarpOperation operation, uint32_t mode,
                           LaneMask lanes) noexcept {
  switch (operation) {
  case WarpOperation::Sync:
    break;
  case WarpOperation::Shuffle:
    completeShuffle(warp, mode, lanes);
    break;
  case WarpOperation::Vote:
    setAll(warp, lanes, voteOf(warp, mode, lanes), 0);
    break;
  case WarpOperation::MatchAny:
    for (LaneMask rest = lanes; rest; rest &= rest - 1) {
      const uint32_t lane = lowest(rest);
      warp.result[lane] = equalLanes(warp, lanes, warp.value[lane]);
    }
    break;
  case WarpOperation::MatchAll: {
    const bool isEqual = equalLanes(warp, lanes, warp.value[lowest(lanes)]) == lanes;
    setAll(warp, lanes, isEqual ? lanes : 0, isEqual);
    break;
  }
  case WarpOperation::Reduce:
    setAll(warp, lanes, reduceOf(warp, mode, lanes), 0);
    break;
  }
}

void Block::meet(Thread& thread, LaneMask mask, const LaneOperands& operands) {
  Warp& warp = warpOf(thread);
  const uint32_t lane = thread.context.lane;
  const LaneMask bit = bitOf(lane);
  const uint32_t key = static_cast<uint32_t>(operands.operation) << 8 | operands.mode;
  if (__builtin_expect((mask & bit) == 0, 0))
    failOutsideMask(thread, mask, key);
  warp.value[lane] = operands.value;
  warp.operandB[lane] = operands.operandB;
  warp.clamp[lane] = operands.clamp;
  const LaneMask expected = mask & warp.live;
  if (expected == bit) {
    completeWarpOperation(warp, operands.operation, operands.mode, bit);
    return;
  }
  uint32_t i = 0;
  while (i < warp.rendezvousCount &&
         (warp.rendezvous[i].mask != mask || warp.rendezvous[i].key != key))
    ++i;
  if (i == warp.rendezvousCount)
    warp.rendezvous[warp.rendezvousCount++] = Rendezvous{mask, 0, key};
  Rendezvous& meeting = warp.rendezvous[i];
  meeting.arrived |= bit;
  if ((expected & ~meeting.arrived) != 0) {
    park(thread);
    return;
  }
  const LaneMask lanes = meeting.arrived;
  warp.rendezvous[i] = warp.rendezvous[--warp.rendezvousCount];
  completeWarpOperation(warp, operands.operation, operands.mode, lanes);
  setReady(thread.context.warp, lanes);
  const auto first = lowest(lanes);
  if (first != lane)
    switchTo((thread.context.warp << warpShift) + first);
}

// A mask from active_mask promises only that its lanes were together then (the compiler may have
// merged two calls into one): an operation under it that nobody else can reach any more completes
// with the lanes that are there.
bool Block::resolveWarpStall(uint32_t warpIndex) noexcept {
  Warp& warp = warps[warpIndex];
  for (uint32_t i = 0; i < warp.rendezvousCount; ++i) {
    const Rendezvous meeting = warp.rendezvous[i];
    bool isGiven = (meeting.arrived & ~warp.hasActiveMask) == 0;
    for (LaneMask rest = meeting.arrived; rest; rest &= rest - 1)
      isGiven &= warp.activeMask[lowest(rest)] == meeting.mask;
    if (!isGiven)
      continue;
    warp.rendezvous[i] = warp.rendezvous[--warp.rendezvousCount];
    completeWarpOperation(warp, static_cast<WarpOperation>(meeting.key >> 8), meeting.key & 0xff,
                          meeting.arrived);
    setReady(warpIndex, meeting.arrived);
    return true;
  }
  return false;
}

// Which lanes are "active" is only known when no lane of the warp can move on alone: a lane waits
// here until every other live lane of its warp waits as well (here, in a barrier or in a warp
// operation) or spins in yield. Then the lanes that came from the same call get each other as mask.
// So the mask is as large as it can be, all its lanes know it, and they can meet under it.
LaneMask Block::activeMask(Thread& thread, const void* site) {
  Warp& warp = warpOf(thread);
  const uint32_t lane = thread.context.lane;
  const LaneMask bit = bitOf(lane);
  if (warp.live == bit)
    return bit;
  warp.activeSite[lane] = site;
  warp.activeWaiting |= bit;
  if (warp.ready == bit) { // the last one: no need to leave
    resolveActiveMask(warp, thread.context.warp);
    const LaneMask result = warp.result[lane];
    const auto first = lowest(result);
    if (first != lane)
      switchTo((thread.context.warp << warpShift) + first);
    return result;
  }
  park(thread);
  return warp.result[lane];
}

void Block::resolveActiveMask(Warp& warp, uint32_t warpIndex) noexcept {
  if ((warp.ready & ~warp.yielded & ~warp.activeWaiting) != 0)
    return;
  const LaneMask lanes = warp.activeWaiting;
  for (LaneMask rest = lanes; rest;) {
    const void* site = warp.activeSite[lowest(rest)];
    LaneMask group = 0;
    for (LaneMask other = rest; other; other &= other - 1) {
      const uint32_t lane = lowest(other);
      if (warp.activeSite[lane] == site)
        group |= bitOf(lane);
    }
    setAll(warp, group, group, 0);
    for (LaneMask other = group; other; other &= other - 1)
      warp.activeMask[lowest(other)] = group;
    rest &= ~group;
  }
  warp.hasActiveMask |= lanes;
  warp.activeWaiting = 0;
  warp.yielded = 0;
  setReady(warpIndex, lanes);
}

void Block::resolveWaiting(Warp& warp, uint32_t warpIndex) noexcept {
  if (warp.activeWaiting)
    resolveActiveMask(warp, warpIndex);
  if (warp.waveWaiting)
    resolveWave(warp, warpIndex);
}

} // namespace mneme::device::cpu
