// Warp operations: lanes meet, the last one computes every lane's result.
#include "runtime/device/cpu/block_switch.h"

namespace mneme::device::cpu {

namespace {

// PTX shfl.sync. A source lane that takes no part leaves the lane's own value.
void completeShuffle(Warp& warp, uint32_t mode, uint32_t lanes) noexcept {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
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

uint32_t ballotOf(const Warp& warp, uint32_t lanes) noexcept {
  uint32_t ballot = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (warp.value[lane])
      ballot |= 1u << lane;
  }
  return ballot;
}

uint32_t voteOf(const Warp& warp, uint32_t mode, uint32_t lanes) noexcept {
  const uint32_t ballot = ballotOf(warp, lanes);
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

uint32_t equalLanes(const Warp& warp, uint32_t lanes, uint64_t value) noexcept {
  uint32_t equal = 0;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (warp.value[lane] == value)
      equal |= 1u << lane;
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

uint32_t reduceOf(const Warp& warp, uint32_t mode, uint32_t lanes) noexcept {
  auto total = static_cast<uint32_t>(warp.value[__builtin_ctz(lanes)]);
  for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1)
    total = combine(mode, total, static_cast<uint32_t>(warp.value[__builtin_ctz(rest)]));
  return total;
}

void setAll(Warp& warp, uint32_t lanes, uint32_t result, uint32_t flag) noexcept {
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    warp.result[lane] = result;
    warp.flag[lane] = flag;
  }
}

} // namespace

void completeWarpOperation(Warp& warp, WarpOperation operation, uint32_t mode,
                           uint32_t lanes) noexcept {
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
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      warp.result[lane] = equalLanes(warp, lanes, warp.value[lane]);
    }
    break;
  case WarpOperation::MatchAll: {
    const bool isEqual = equalLanes(warp, lanes, warp.value[__builtin_ctz(lanes)]) == lanes;
    setAll(warp, lanes, isEqual ? lanes : 0, isEqual);
    break;
  }
  case WarpOperation::Reduce:
    setAll(warp, lanes, reduceOf(warp, mode, lanes), 0);
    break;
  }
}

void Block::meet(Thread& thread, uint32_t mask, const LaneOperands& operands) {
  Warp& warp = warpOf(thread);
  const uint32_t lane = thread.context.lane;
  const uint32_t bit = 1u << lane;
  const uint32_t key = static_cast<uint32_t>(operands.operation) << 8 | operands.mode;
  mask |= bit; // a lane outside its own mask is undefined in PTX; it meets the others anyway
  warp.value[lane] = operands.value;
  warp.operandB[lane] = operands.operandB;
  warp.clamp[lane] = operands.clamp;
  const uint32_t expected = mask & warp.live;
  if (expected == bit) {
    completeWarpOperation(warp, operands.operation, operands.mode, bit);
    return;
  }
  uint32_t i = 0;
  while (i < warp.rendezvousCount &&
         (warp.rendezvous[i].mask != mask || warp.rendezvous[i].key != key))
    ++i;
  if (i == warp.rendezvousCount)
    warp.rendezvous[warp.rendezvousCount++] = Rendezvous{mask, key, 0};
  Rendezvous& meeting = warp.rendezvous[i];
  meeting.arrived |= bit;
  if ((expected & ~meeting.arrived) != 0) {
    park(thread);
    return;
  }
  const uint32_t lanes = meeting.arrived;
  warp.rendezvous[i] = warp.rendezvous[--warp.rendezvousCount];
  completeWarpOperation(warp, operands.operation, operands.mode, lanes);
  setReady(thread.context.warp, lanes);
  const auto first = static_cast<uint32_t>(__builtin_ctz(lanes));
  if (first != lane)
    switchTo(thread.context.warp * warpSize + first);
}

// A mask from active_mask promises only that its lanes were together then (the compiler may have
// merged two calls into one): an operation under it that nobody else can reach any more completes
// with the lanes that are there.
bool Block::resolveWarpStall(uint32_t warpIndex) noexcept {
  Warp& warp = warps[warpIndex];
  for (uint32_t i = 0; i < warp.rendezvousCount; ++i) {
    const Rendezvous meeting = warp.rendezvous[i];
    bool isGiven = (meeting.arrived & ~warp.hasActiveMask) == 0;
    for (uint32_t rest = meeting.arrived; rest; rest &= rest - 1)
      isGiven &= warp.activeMask[__builtin_ctz(rest)] == meeting.mask;
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
uint32_t Block::activeMask(Thread& thread, const void* site) {
  Warp& warp = warpOf(thread);
  const uint32_t lane = thread.context.lane;
  const uint32_t bit = 1u << lane;
  if (warp.live == bit)
    return bit;
  warp.activeSite[lane] = site;
  warp.activeWaiting |= bit;
  if (warp.ready == bit) { // the last one: no need to leave
    resolveActiveMask(warp, thread.context.warp);
    const uint32_t result = warp.result[lane];
    const auto first = static_cast<uint32_t>(__builtin_ctz(result));
    if (first != lane)
      switchTo(thread.context.warp * warpSize + first);
    return result;
  }
  park(thread);
  return warp.result[lane];
}

void Block::resolveActiveMask(Warp& warp, uint32_t warpIndex) noexcept {
  if ((warp.ready & ~warp.yielded & ~warp.activeWaiting) != 0)
    return;
  const uint32_t lanes = warp.activeWaiting;
  for (uint32_t rest = lanes; rest;) {
    const void* site = warp.activeSite[__builtin_ctz(rest)];
    uint32_t group = 0;
    for (uint32_t other = rest; other; other &= other - 1) {
      const int lane = __builtin_ctz(other);
      if (warp.activeSite[lane] == site)
        group |= 1u << lane;
    }
    setAll(warp, group, group, 0);
    for (uint32_t other = group; other; other &= other - 1)
      warp.activeMask[__builtin_ctz(other)] = group;
    rest &= ~group;
  }
  warp.hasActiveMask |= lanes;
  warp.activeWaiting = 0;
  warp.yielded = 0;
  setReady(warpIndex, lanes);
}

} // namespace mneme::device::cpu
