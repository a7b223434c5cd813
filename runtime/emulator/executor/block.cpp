#include "runtime/emulator/executor/block.h"

#include <algorithm>
#include <new>

#include "runtime/emulator/executor/block_switch.h"

namespace mneme::device::cpu {

void Block::prepare(Worker& owner, LaunchState& launchState) {
  worker = &owner;
  state = &launchState;
  const uint32_t* block = launchState.launch.block;
  threadCount = launchState.threadsPerBlock;
  const bool isWide = (launchState.header->flags & MNEME_CPU_IMAGE_WARP64) != 0;
  warpSize = isWide ? maxWarpSize : MNEME_CPU_WARP_SIZE;
  warpShift = isWide ? 6 : 5;
  warpCount = (threadCount + warpSize - 1) / warpSize;
  uint32_t x = 0, y = 0, z = 0;
  for (uint32_t i = 0; i < threadCount; ++i) {
    Thread& thread = threads[i];
    thread.context.launch = &launchState.launch;
    thread.context.threadId[0] = x;
    thread.context.threadId[1] = y;
    thread.context.threadId[2] = z;
    thread.context.lane = i % warpSize;
    thread.context.warp = i / warpSize;
    thread.worker = &owner;
    thread.block = this;
    if (++x == block[0]) {
      x = 0;
      if (++y == block[1]) {
        y = 0;
        ++z;
      }
    }
  }
}

void Block::begin(uint64_t blockIndex, char* sharedMemory) {
  const uint32_t* grid = state->launch.grid;
  index = blockIndex;
  blockId[0] = static_cast<uint32_t>(blockIndex % grid[0]);
  blockId[1] = static_cast<uint32_t>(blockIndex / grid[0] % grid[1]);
  blockId[2] = static_cast<uint32_t>(blockIndex / grid[0] / grid[1]);
  shared = sharedMemory;
  forgetShared(shared, *state);
  liveCount = threadCount;
  readyWarps = warpCount == 32 ? ~0u : (1u << warpCount) - 1;
  usedBarriers = 0;
  isFinished = false;
  resumeBehind_ = threadCount - 1;
  for (uint32_t i = 0; i < threadCount; ++i)
    threads[i].fiber = nullptr;
  for (uint32_t w = 0; w < warpCount; ++w) {
    const uint32_t lanes = threadCount - w * warpSize;
    const LaneMask mask = ~LaneMask{0} >> (maxWarpSize - (lanes < warpSize ? lanes : warpSize));
    Warp& warp = warps[w];
    warp.ready = mask;
    warp.live = mask;
    warp.rendezvousCount = 0;
    warp.activeWaiting = 0;
    warp.waveWaiting = 0;
    warp.yielded = 0;
    warp.hasActiveMask = 0;
  }
}

void Block::resume() {
  const uint32_t first = nextReady(resumeBehind_);
  Thread& thread = threads[first];
  Fiber* fiber = thread.fiber ? thread.fiber : takeFiber();
  makeCurrent(thread);
  jumpFiber(worker->currentFiber, fiber);
}

Fiber* Block::takeFiber() {
  if (Fiber* fiber = worker->fibers.take())
    return fiber;
  const size_t step = std::max<size_t>(32, worker->fibers.size() / 4);
  bool isGrown = false;
  {
    ServiceScope guard(*worker);
    try {
      worker->fibers.grow(worker->fibers.size() + step);
      isGrown = true;
    } catch (const std::bad_alloc&) {
    }
  }
  if (!isGrown) {
    state->fail(FaultKind::OutOfMemory, "there is no memory for the stacks of " +
                                            std::to_string(worker->fibers.size() + step) +
                                            " logical threads; launch fewer threads");
    worker->escapeDevice();
  }
  return worker->fibers.take();
}

void Block::exitThread(Thread& thread) {
  const uint32_t w = thread.context.warp;
  const LaneMask bit = bitOf(thread.context.lane);
  Warp& warp = warps[w];
  --liveCount;
  warp.live &= ~bit;
  warp.ready &= ~bit;
  warp.yielded &= ~bit;
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
  if (!warp.ready)
    readyWarps &= ~(1u << w);
  if (warp.activeWaiting | warp.waveWaiting)
    resolveWaiting(warp, w);
  for (uint32_t used = usedBarriers; used; used &= used - 1) {
    Barrier& barrier = barriers[__builtin_ctz(used)];
    if (barrier.arrived && isComplete(barrier, false))
      releaseBarrier(barrier);
  }
}

// Named barriers with a count are strict at first (producers that have returned must not open a
// barrier among the consumers); only when nothing else can run do exited threads count there too.
bool Block::resolveStall() noexcept {
  for (uint32_t used = usedBarriers; used; used &= used - 1) {
    Barrier& barrier = barriers[__builtin_ctz(used)];
    if (barrier.arrived && isComplete(barrier, true)) {
      releaseBarrier(barrier);
      return true;
    }
  }
  for (uint32_t w = 0; w < warpCount; ++w) {
    if (warps[w].hasActiveMask && resolveWarpStall(w))
      return true;
  }
  return false;
}

void Block::yield(Thread& thread) {
  checkStop(*worker);
  const uint32_t self = indexOf(thread);
  Warp& warp = warpOf(thread);
  if (warp.activeWaiting | warp.waveWaiting) {
    warp.yielded |= bitOf(thread.context.lane);
    resolveWaiting(warp, thread.context.warp);
  }
  const uint32_t next = nextReady(self);
  if (next > self) {
    switchTo(next);
    return;
  }
  // Every ready thread had its turn: they wait for another block.
  resumeBehind_ = self;
  jumpFiber(worker->currentFiber, &worker->mainFiber);
}

void fiberMain(boost::context::detail::transfer_t arrival) {
  auto* worker = static_cast<Worker*>(enterFiber(arrival)->owner);
  Fiber* self = worker->currentFiber;
  for (;;) {
    Thread* thread = worker->current;
    Block* block = thread->block;
    thread->fiber = self;
    block->state->header->run_thread(&thread->context);
    block->exitThread(*thread);
    Fiber* target = block->successorOf(*thread);
    if (!target)
      continue; // a thread that has not started: it runs here, on the warm stack
    worker->fibers.put(self);
    jumpFiber(worker->currentFiber, target);
  }
}

Fiber* Block::successorOf(Thread& thread) {
  if (liveCount == 0) {
    isFinished = true;
    return &worker->mainFiber;
  }
  uint32_t next = nextReady(indexOf(thread));
  if (next == noThread) {
    if (!resolveStall())
      failDeadlock();
    next = nextReady(indexOf(thread));
  }
  makeCurrent(threads[next]);
  return threads[next].fiber;
}

} // namespace mneme::device::cpu
