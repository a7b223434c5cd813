// Blocks in rounds: images whose threads are loops between the places where they meet, and whose
// lanes meet, too. The image lets lanes take a step each and comes here with where that led them;
// who may go on is decided by the rules that hold for fibers. Nothing here switches fibers.
#include <algorithm>

#include "runtime/emulator/executor/block_switch.h"

namespace mneme::device::cpu {

namespace {

LaneMask firstLanes(uint32_t count) noexcept { return ~LaneMask{0} >> (maxWarpSize - count); }

} // namespace

uint32_t* Block::laneField(uint32_t field, uint32_t warp) const noexcept {
  return laneFields + uint64_t{field} * threadCount + (warp << warpShift);
}

uint32_t Block::lanesOf(uint32_t warp) const noexcept {
  const uint32_t lanes = threadCount - (warp << warpShift);
  return lanes < warpSize ? lanes : warpSize;
}

void Block::prepareRounds(Worker& owner, LaunchState& launchState, char* scratch) noexcept {
  worker = &owner;
  state = &launchState;
  const mneme_cpu_image_header& header = *launchState.header;
  const uint32_t* size = launchState.launch.block;
  threadCount = launchState.threadsPerBlock;
  const bool isWide = (header.flags & MNEME_CPU_IMAGE_WARP64) != 0;
  warpSize = isWide ? maxWarpSize : MNEME_CPU_WARP_SIZE;
  warpShift = isWide ? 6 : 5;
  warpCount = (threadCount + warpSize - 1) / warpSize;
  laneFields = reinterpret_cast<uint32_t*>(scratch + header.laneOffset * threadCount);
  // Images count on the lanes that step together having neighbouring x and all else alike.
  isAlwaysMixed = size[0] % warpSize != 0 && size[0] != threadCount;
}

void Block::beginRounds(const uint32_t* id) noexcept {
  for (int axis = 0; axis < 3; ++axis)
    blockId[axis] = id[axis];
  liveCount = threadCount;
  usedBarriers = 1;
  barriers[0] = Barrier{};
  for (uint32_t w = 0; w < warpCount; ++w) {
    const LaneMask lanes = firstLanes(lanesOf(w));
    Warp& warp = warps[w];
    warp.ready = lanes;
    warp.live = lanes;
    warp.rendezvousCount = 0;
    warp.activeWaiting = 0;
    warp.waveWaiting = 0;
    warp.yielded = 0;
    warp.hasActiveMask = 0;
    memset(laneField(MNEME_LANE_NEXT, w), 0, lanesOf(w) * sizeof(uint32_t));
  }
}

/// The one thread that a message is about.
Thread& Block::describedThread(uint32_t number) noexcept {
  Thread& thread = threads[number];
  const uint32_t* size = state->launch.block;
  const uint32_t at[3] = {number % size[0], number / size[0] % size[1], number / size[0] / size[1]};
  for (int axis = 0; axis < 3; ++axis) {
    thread.context.threadId[axis] = at[axis];
    thread.context.blockId[axis] = blockId[axis];
  }
  thread.context.lane = number & (warpSize - 1);
  thread.context.warp = number >> warpShift;
  thread.block = this;
  return thread;
}

uint32_t Block::operandOf(const mneme_cpu_meeting& meeting, uint32_t field, uint32_t warp,
                          uint32_t lane) const noexcept {
  return (meeting.given >> field & 1) != 0 ? meeting.fixed[field] : laneField(field, warp)[lane];
}

void Block::takeOperands(const mneme_cpu_meeting& meeting, uint32_t w, uint32_t lane) noexcept {
  Warp& warp = warps[w];
  warp.value[lane] = operandOf(meeting, MNEME_LANE_VALUE, w, lane) |
                     uint64_t{operandOf(meeting, MNEME_LANE_HIGH, w, lane)} << 32;
  warp.operandB[lane] = operandOf(meeting, MNEME_LANE_OPERAND, w, lane);
  warp.clamp[lane] = operandOf(meeting, MNEME_LANE_CLAMP, w, lane);
}

/// A lane has come to an operation under a mask.
void Block::joinRendezvous(const mneme_cpu_meeting& meeting, uint32_t w, uint32_t lane) {
  Warp& warp = warps[w];
  const LaneMask mask = operandOf(meeting, MNEME_LANE_MASK, w, lane);
  const uint32_t key = (meeting.kind - MNEME_MEET_SYNC) << 8 | meeting.mode;
  if (__builtin_expect((mask & bitOf(lane)) == 0, 0))
    failOutsideMask(describedThread((w << warpShift) + lane), mask, key);
  takeOperands(meeting, w, lane);
  uint32_t i = 0;
  while (i < warp.rendezvousCount &&
         (warp.rendezvous[i].mask != mask || warp.rendezvous[i].key != key))
    ++i;
  if (i == warp.rendezvousCount)
    warp.rendezvous[warp.rendezvousCount++] = Rendezvous{mask, 0, key};
  warp.rendezvous[i].arrived |= bitOf(lane);
}

void Block::arriveInRound(uint32_t number, uint32_t w, uint32_t lane) {
  Warp& warp = warps[w];
  const LaneMask bit = bitOf(lane);
  if (number == 0) {
    warp.live &= ~bit;
    --liveCount;
    return;
  }
  const mneme_cpu_meeting& meeting = meetingOf(number);
  switch (meeting.kind) {
  case MNEME_MEET_BLOCK:
    barriers[0].waiting[w] |= bit;
    ++barriers[0].arrived;
    return;
  case MNEME_MEET_ACTIVE_MASK:
    warp.activeSite[lane] = &meeting;
    warp.activeWaiting |= bit;
    return;
  case MNEME_MEET_WAVE:
    takeOperands(meeting, w, lane);
    warp.waveSite[lane] = meeting.site;
    warp.waveOperation[lane] = meeting.mode;
    warp.waveWaiting |= bit;
    return;
  default:
    joinRendezvous(meeting, w, lane);
  }
}

/// What all lanes of a warp bring to one meeting.
void Block::takeAllOperands(const mneme_cpu_meeting& meeting, uint32_t w) noexcept {
  Warp& warp = warps[w];
  const uint32_t count = lanesOf(w);
  const auto take = [&](uint32_t field, auto* to) {
    const uint32_t* from = laneField(field, w);
    if ((meeting.given >> field & 1) != 0)
      std::fill_n(to, count, meeting.fixed[field]);
    else
      std::copy_n(from, count, to);
  };
  take(MNEME_LANE_VALUE, warp.value);
  take(MNEME_LANE_OPERAND, warp.operandB);
  take(MNEME_LANE_CLAMP, warp.clamp);
  if ((meeting.given >> MNEME_LANE_HIGH & 1) == 0)
    for (uint32_t lane = 0; lane < count; ++lane)
      warp.value[lane] |= uint64_t{laneField(MNEME_LANE_HIGH, w)[lane]} << 32;
  else if (meeting.fixed[MNEME_LANE_HIGH] != 0)
    for (uint32_t lane = 0; lane < count; ++lane)
      warp.value[lane] |= uint64_t{meeting.fixed[MNEME_LANE_HIGH]} << 32;
}

/// The live lanes that `lane` meets, all of which are at one place; none if one of them has another
/// mask, or the lane is not in its own.
LaneMask Block::groupOf(const mneme_cpu_meeting& meeting, uint32_t w,
                        uint32_t lane) const noexcept {
  const LaneMask live = warps[w].live;
  const LaneMask mask = operandOf(meeting, MNEME_LANE_MASK, w, lane);
  if ((mask & bitOf(lane)) == 0)
    return 0;
  if ((meeting.given >> MNEME_LANE_MASK & 1) != 0)
    return (live & ~mask) == 0 ? live : 0;
  const uint32_t* masks = laneField(MNEME_LANE_MASK, w);
  for (LaneMask rest = mask & live; rest; rest &= rest - 1)
    if (masks[lowest(rest)] != mask)
      return 0;
  return mask & live;
}

/// All live lanes are at the same place: true if nobody has to wait for others there.
bool Block::meetTogether(uint32_t number, uint32_t w) noexcept {
  Warp& warp = warps[w];
  const mneme_cpu_meeting& meeting = meetingOf(number);
  if (meeting.kind == MNEME_MEET_BLOCK || meeting.kind >= MNEME_MEET_ACTIVE_MASK)
    return false;
  LaneMask groups[maxWarpSize];
  uint32_t count = 0;
  for (LaneMask rest = warp.live; rest;) {
    const LaneMask group = groupOf(meeting, w, lowest(rest));
    if (group == 0 || (group & ~rest) != 0)
      return false;
    groups[count++] = group;
    rest &= ~group;
  }
  takeAllOperands(meeting, w);
  for (uint32_t group = 0; group < count; ++group)
    completeWarpOperation(warp, static_cast<WarpOperation>(meeting.kind - MNEME_MEET_SYNC),
                          meeting.mode, groups[group]);
  warp.ready = warp.live;
  const uint32_t lanes = lanesOf(w);
  std::copy_n(warp.result, lanes, laneField(MNEME_LANE_RESULT, w));
  std::copy_n(warp.flag, lanes, laneField(MNEME_LANE_FLAG, w));
  return true;
}

/// The same end or barrier for all lanes that had their turn; false where it is something else.
bool Block::arriveTogether(uint32_t number, uint32_t w, LaneMask lanes) noexcept {
  const auto count = static_cast<uint32_t>(__builtin_popcountll(lanes));
  if (number == 0) {
    warps[w].live &= ~lanes;
    liveCount -= count;
    return true;
  }
  if (meetingOf(number).kind != MNEME_MEET_BLOCK)
    return false;
  barriers[0].waiting[w] |= lanes;
  barriers[0].arrived += count;
  return true;
}

uint32_t Block::meetInRound(uint32_t w, uint32_t any, uint32_t all) {
  Warp& warp = warps[w];
  const LaneMask arrived = warp.ready;
  warp.ready = 0;
  if (any != all || !arriveTogether(any, w, arrived)) {
    if (any == all && arrived == warp.live && meetTogether(any, w))
      return startOfWarp(w);
    const uint32_t* next = laneField(MNEME_LANE_NEXT, w);
    for (LaneMask rest = arrived; rest; rest &= rest - 1)
      arriveInRound(next[lowest(rest)], w, lowest(rest));
  }
  completeMeetings(w);
  if (!warp.ready)
    resolveWaiting(warp, w);
  giveResults(w);
  return startOfWarp(w);
}

/// Lets those go on for whom no live lane is missing.
void Block::completeMeetings(uint32_t w) noexcept {
  Warp& warp = warps[w];
  for (uint32_t i = 0; i < warp.rendezvousCount;) {
    const Rendezvous meeting = warp.rendezvous[i];
    if ((meeting.mask & warp.live & ~meeting.arrived) != 0) {
      ++i;
      continue;
    }
    warp.rendezvous[i] = warp.rendezvous[--warp.rendezvousCount];
    completeWarpOperation(warp, static_cast<WarpOperation>(meeting.key >> 8), meeting.key & 0xff,
                          meeting.arrived);
    setReady(w, meeting.arrived);
  }
}

/// Ends the operations that lanes which go on have waited for.
void Block::giveResults(uint32_t w) noexcept {
  const Warp& warp = warps[w];
  const uint32_t* next = laneField(MNEME_LANE_NEXT, w);
  uint32_t* results = laneField(MNEME_LANE_RESULT, w);
  uint32_t* flags = laneField(MNEME_LANE_FLAG, w);
  for (LaneMask rest = warp.ready; rest; rest &= rest - 1) {
    const uint32_t lane = lowest(rest);
    results[lane] = static_cast<uint32_t>(warp.result[lane]);
    flags[lane] = warp.flag[lane];
    if (meetingOf(next[lane]).kind == MNEME_MEET_WAVE)
      flags[lane] = static_cast<uint32_t>(warp.result[lane] >> 32);
  }
}

uint32_t Block::startOfWarp(uint32_t w) noexcept {
  Warp& warp = warps[w];
  if (!warp.ready)
    return MNEME_ROUND_WAITS;
  const uint32_t count = lanesOf(w);
  const uint32_t* next = laneField(MNEME_LANE_NEXT, w);
  if (!isAlwaysMixed && count == warpSize && warp.ready == firstLanes(count)) {
    uint32_t differences = 0;
    for (uint32_t lane = 0; lane < count; ++lane)
      differences |= next[lane] ^ next[0];
    if (differences == 0)
      return next[0];
  }
  uint32_t* turn = laneField(MNEME_LANE_TURN, w);
  for (uint32_t lane = 0; lane < count; ++lane)
    turn[lane] = (warp.ready & bitOf(lane)) != 0 ? next[lane] + 1 : 0;
  return MNEME_ROUND_MIXED;
}

uint32_t Block::endRound() {
  checkStop(*worker);
  if (liveCount == 0)
    return 0;
  Barrier& barrier = barriers[0];
  if (isComplete(barrier, false)) {
    releaseBarrier(barrier);
    return 1;
  }
  if (!resolveStall())
    failDeadlock();
  for (uint32_t w = 0; w < warpCount; ++w)
    giveResults(w);
  return 2;
}

} // namespace mneme::device::cpu
