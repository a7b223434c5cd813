// Barriers of a block, and what happens when no thread can run.
#include "runtime/emulator/executor/block_switch.h"

namespace mneme::device::cpu {

bool Block::isComplete(const Barrier& barrier, bool countExited) const noexcept {
  if (barrier.expected == 0)
    return barrier.arrived >= liveCount;
  const uint32_t exited = countExited ? threadCount - liveCount : 0;
  return barrier.arrived + exited >= barrier.expected;
}

void Block::releaseBarrier(Barrier& barrier) noexcept {
  const uint32_t parity = barrier.generation & 1;
  barrier.resultPopc[parity] = barrier.popc;
  barrier.resultAll[parity] = barrier.all;
  barrier.resultAny[parity] = barrier.any;
  ++barrier.generation;
  barrier.arrived = 0;
  barrier.popc = 0;
  barrier.all = 1;
  barrier.any = 0;
  for (uint32_t w = 0; w < warpCount; ++w) {
    const LaneMask lanes = barrier.waiting[w];
    if (lanes)
      setReady(w, lanes);
    barrier.waiting[w] = 0;
  }
}

[[gnu::always_inline]] inline void Block::arriveAtBarrier(Thread& thread, uint32_t id,
                                                          uint32_t count) {
  Barrier& barrier = barriers[id];
  const LaneMask bit = bitOf(thread.context.lane);
  barrier.expected = count >= threadCount && !barrier.hasArrivals ? 0 : count;
  ++barrier.arrived;
  barrier.waiting[thread.context.warp] |= bit;
  if (!isComplete(barrier, false)) {
    park(thread);
    return;
  }
  checkStop(*worker);
  // In thread order again: the lowest thread that waited here goes first.
  uint32_t first = indexOf(thread);
  for (uint32_t w = 0; w < warpCount; ++w) {
    if (barrier.waiting[w]) {
      first = (w << warpShift) + lowest(barrier.waiting[w]);
      break;
    }
  }
  releaseBarrier(barrier);
  if (first != indexOf(thread))
    switchTo(first);
}

/// Producers arrive and go on, and may have returned before the others come.
void Block::arriveOnly(Barrier& barrier, uint32_t count) {
  barrier.hasArrivals = 1;
  barrier.expected = count;
  ++barrier.arrived;
  if (isComplete(barrier, false))
    releaseBarrier(barrier);
}

void Block::barrier(Thread& thread, uint32_t id, uint32_t count) {
  openBarrier(id);
  if (id & MNEME_BARRIER_ARRIVE) {
    arriveOnly(barriers[id % barrierCount], count);
    return;
  }
  arriveAtBarrier(thread, id % barrierCount, count);
}

void Block::openBarrier(uint32_t id) noexcept {
  const uint32_t bit = 1u << (id % barrierCount);
  if (usedBarriers & bit)
    return;
  usedBarriers |= bit;
  Barrier& barrier = barriers[id % barrierCount];
  barrier = Barrier{};
  barrier.all = 1;
}

uint32_t Block::barrierReduce(Thread& thread, uint32_t id, uint32_t operation, uint32_t predicate) {
  openBarrier(id);
  Barrier& barrier = barriers[id % barrierCount];
  // The results of this generation stay until the one after the next completes, which needs this
  // thread.
  const uint32_t parity = barrier.generation & 1;
  const uint32_t bit = predicate != 0;
  barrier.popc += bit;
  barrier.all &= bit;
  barrier.any |= bit;
  arriveAtBarrier(thread, id % barrierCount, 0);
  switch (operation) {
  case MNEME_REDUCE_POPC:
    return barrier.resultPopc[parity];
  case MNEME_REDUCE_AND:
    return barrier.resultAll[parity];
  default:
    return barrier.resultAny[parity];
  }
}

namespace {

std::string hexMask(LaneMask mask) {
  char text[24];
  snprintf(text, sizeof text, "0x%08llx", static_cast<unsigned long long>(mask));
  return text;
}

const char* operationName(uint32_t key) {
  static constexpr const char* names[] = {"__syncwarp", "shuffle",   "vote",
                                          "match_any",  "match_all", "warp reduction"};
  return names[key >> 8];
}

} // namespace

std::string Block::describeStall() const {
  std::string text;
  auto add = [&text](const std::string& part) {
    if (text.size() < 400)
      text += (text.empty() ? "" : "; ") + part;
  };
  for (uint32_t used = usedBarriers; used; used &= used - 1) {
    const auto id = static_cast<uint32_t>(__builtin_ctz(used));
    if (barriers[id].arrived) {
      const uint32_t expected = barriers[id].expected ? barriers[id].expected : liveCount;
      add(std::to_string(barriers[id].arrived) + " of " + std::to_string(expected) +
          " threads wait at barrier " + std::to_string(id));
    }
  }
  for (uint32_t w = 0; w < warpCount; ++w) {
    for (uint32_t i = 0; i < warps[w].rendezvousCount; ++i) {
      const Rendezvous& meeting = warps[w].rendezvous[i];
      add("warp " + std::to_string(w) + " waits in a " + operationName(meeting.key) +
          " with mask " + hexMask(meeting.mask) + " for lanes " +
          hexMask(meeting.mask & warps[w].live & ~meeting.arrived));
    }
  }
  return text;
}

void Block::failDeadlock() {
  {
    ServiceScope guard(*worker);
    state->fail(FaultKind::Deadlock, "kernel '" + std::string(state->header->kernelName) +
                                         "' deadlocked in block (" + std::to_string(blockId[0]) +
                                         "," + std::to_string(blockId[1]) + "," +
                                         std::to_string(blockId[2]) + "): " + describeStall());
  }
  worker->escapeDevice();
}

// CUDA leaves the result undefined, and what GPUs give depends on which lanes happen to be
// together.
void Block::failOutsideMask(Thread& thread, LaneMask mask, uint32_t key) {
  {
    ServiceScope guard(*worker);
    state->fail(FaultKind::Trap,
                "kernel '" + std::string(state->header->kernelName) + "' calls a " +
                    operationName(key) + " with mask " + hexMask(mask) + ", which lacks lane " +
                    std::to_string(thread.context.lane) + " that calls it, in " + whereIs(thread) +
                    ": its result is undefined; give it a mask of all lanes " +
                    "that call it, and leave lanes out of the result instead");
  }
  worker->escapeDevice();
}

} // namespace mneme::device::cpu
