// Room emulator/executor: the hot path of the block scheduler. Everything between a barrier or warp
// operation and the fiber switch is inlined into one frame: the processor predicts returns by a
// stack of its own, which a fiber switch leaves wrong, so every frame to return through afterwards
// costs a misprediction. Internal.
#pragma once

#include "runtime/emulator/executor/block.h"

namespace mneme::device::cpu {

[[gnu::always_inline]] inline void Block::makeCurrent(Thread& thread) noexcept {
  if (!thread.fiber) {
    thread.context.blockId[0] = blockId[0];
    thread.context.blockId[1] = blockId[1];
    thread.context.blockId[2] = blockId[2];
    thread.context.shared = shared;
  }
  worker->current = &thread;
  if (state->header->set_context)
    state->header->set_context(&thread.context);
}

[[gnu::always_inline]] inline uint32_t Block::nextReady(uint32_t from) const noexcept {
  const uint32_t w = from >> warpShift;
  const LaneMask above = warps[w].ready & (~LaneMask{1} << (from & (warpSize - 1)));
  if (above)
    return (w << warpShift) + lowest(above);
  uint32_t candidates = readyWarps & (~1u << w);
  if (!candidates)
    candidates = readyWarps;
  if (!candidates)
    return noThread;
  const auto next = static_cast<uint32_t>(__builtin_ctz(candidates));
  return (next << warpShift) + lowest(warps[next].ready);
}

[[gnu::always_inline]] inline void Block::setReady(uint32_t warp, LaneMask lanes) noexcept {
  warps[warp].ready |= lanes;
  readyWarps |= 1u << warp;
}

[[gnu::always_inline]] inline void Block::switchTo(uint32_t target) {
  Thread& thread = threads[target];
  Fiber* to = thread.fiber;
  if (__builtin_expect(!to, 0))
    to = takeFiber();
  makeCurrent(thread);
  if (to != worker->currentFiber)
    jumpFiber(worker->currentFiber, to);
}

[[gnu::always_inline]] inline void Block::park(Thread& thread) {
  Warp& warp = warpOf(thread);
  const uint32_t w = thread.context.warp;
  warp.ready &= ~bitOf(thread.context.lane);
  if (!warp.ready)
    readyWarps &= ~(1u << w);
  if (__builtin_expect((warp.activeWaiting | warp.waveWaiting) != 0, 0))
    resolveWaiting(warp, w);
  uint32_t next = nextReady(indexOf(thread));
  if (__builtin_expect(next == noThread, 0)) {
    if (!resolveStall())
      failDeadlock();
    next = nextReady(indexOf(thread));
  }
  switchTo(next);
}

} // namespace mneme::device::cpu
