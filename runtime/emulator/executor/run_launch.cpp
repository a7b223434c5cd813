// One launch: shares the blocks among the workers and turns faults into an outcome.
// The longjmp out of device code crosses stacks, which glibc's fortified longjmp refuses.
#undef _FORTIFY_SOURCE
#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include <signal.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

#include "runtime/emulator/executor/block.h"
#include "runtime/emulator/executor/cpu_description.h"
#include "runtime/emulator/executor/executor.h"
#include "runtime/emulator/executor/fault.h"
#include "runtime/emulator/executor/image.h"
#include "runtime/emulator/executor/pool.h"
#include "runtime/emulator/executor/resident_blocks.h"

#ifdef MNEME_FIBER_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace mneme::device::cpu {

namespace {

constexpr size_t defaultStackBytes =
#ifdef MNEME_FIBER_ASAN
    256 * 1024;
#else
    64 * 1024;
#endif

// Waking a helper costs a few microseconds: shorter launches stay on the calling thread.
constexpr uint64_t worthWakingNs = 6000;

/// Device code runs with IEEE defaults whatever the host program has set; restored at the end.
class FloatEnvironment {
public:
#if defined(__x86_64__)
  FloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }

private:
  unsigned saved_;
#else
  FloatEnvironment() { feholdexcept(&saved_), fesetenv(FE_DFL_ENV); }
  ~FloatEnvironment() { fesetenv(&saved_); }

private:
  fenv_t saved_;
#endif
};

bool claimChunk(LaunchState& state, uint64_t& begin, uint64_t& end) noexcept {
  uint64_t next = state.nextBlock.load(std::memory_order_relaxed);
  while (next < state.blockCount) {
    const uint64_t chunk =
        std::clamp<uint64_t>((state.blockCount - next) / (state.participants * 4), 1, 4096);
    if (state.nextBlock.compare_exchange_weak(next, next + chunk, std::memory_order_relaxed)) {
      begin = next;
      end = next + chunk;
      return true;
    }
  }
  return false;
}

void runLoopBlocks(Worker& worker, LaunchState& state) {
  Thread& thread = worker.loopThread;
  const uint32_t* grid = state.launch.grid;
  uint32_t* block = thread.context.blockId;
  const bool isInRounds = (state.header->flags & MNEME_CPU_IMAGE_ROUNDS) != 0;
  worker.current = &thread;
  if (state.header->set_context)
    state.header->set_context(&thread.context);
  for (uint64_t begin = 0, end = 0; claimChunk(state, begin, end);) {
    if (state.isReversed)
      std::tie(begin, end) = std::pair(state.blockCount - end, state.blockCount - begin);
    block[0] = static_cast<uint32_t>(begin % grid[0]);
    block[1] = static_cast<uint32_t>(begin / grid[0] % grid[1]);
    block[2] = static_cast<uint32_t>(begin / grid[0] / grid[1]);
    for (uint64_t i = begin; i < end; ++i) {
      checkStop(worker);
      forgetShared(thread.context.shared, state);
      if (isInRounds)
        worker.rounds->beginRounds(block);
      state.header->run_block(&thread.context);
      if (++block[0] == grid[0]) {
        block[0] = 0;
        if (++block[1] == grid[1]) {
          block[1] = 0;
          ++block[2];
        }
      }
    }
  }
}

[[gnu::noinline]] void runDeviceCode(Worker& worker, LaunchState& state) {
  worker.isInDevice = 1;
  if (state.isLoop)
    runLoopBlocks(worker, state);
  else
    runBlocks(worker, state);
  worker.isInDevice = 0;
}

/// Everything that allocates, before device code starts.
void prepareWorker(Worker& worker, LaunchState& state) {
  worker.state = &state;
  worker.currentFiber = &worker.mainFiber;
  worker.pendingKind = FaultKind::None;
  worker.stalledAt.store(~0ull, std::memory_order_relaxed);
  Thread& thread = worker.loopThread;
  thread = Thread{};
  thread.worker = &worker;
  thread.context.launch = &state.launch;
  worker.current = &thread;
  if (state.header->set_context)
    state.header->set_context(&thread.context); // allocates the image's thread-local storage
  if (state.isLoop) {
    thread.context.shared = worker.shared.require(state.sharedBytes, state.sharedAlignBytes);
    if (const uint64_t bytes = state.header->scratchBytes * state.threadsPerBlock; bytes > 0)
      thread.context.scratch = worker.scratch.require(bytes, 256);
    if (state.header->flags & MNEME_CPU_IMAGE_ROUNDS) {
      if (!worker.rounds)
        worker.rounds = std::make_unique_for_overwrite<Block>();
      worker.rounds->prepareRounds(worker, state, thread.context.scratch);
    }
    return;
  }
  prepareBlocks(worker, state);
}

void noteMainStack(Worker& worker) {
#ifdef MNEME_FIBER_ASAN
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* low = nullptr;
    pthread_attr_getstack(&attributes, &low, &worker.mainFiber.stackBytes);
    worker.mainFiber.stackLow = static_cast<char*>(low);
    pthread_attr_destroy(&attributes);
  }
#else
  (void)worker;
#endif
}

#ifdef MNEME_FIBER_ASAN
// The frames that the escape has skipped, on the worker's stack and on the signal stack, have left
// their redzones behind.
[[gnu::noinline]] void noteEscape(Worker& worker) {
  if (worker.currentFiber != &worker.mainFiber)
    __sanitizer_finish_switch_fiber(worker.mainFiber.fakeStack, nullptr, nullptr);
  setSwitchingFibers(false);
  const char* frame = static_cast<const char*>(__builtin_frame_address(0));
  const char* low = std::max<const char*>(worker.mainFiber.stackLow, frame - (1 << 20));
  __asan_unpoison_memory_region(low, static_cast<size_t>(frame - low));
  stack_t signals{};
  if (sigaltstack(nullptr, &signals) == 0 && !(signals.ss_flags & SS_DISABLE))
    __asan_unpoison_memory_region(signals.ss_sp, signals.ss_size);
}
#endif

void afterEscape(Worker& worker, LaunchState& state) {
  worker.isInDevice = 0;
#ifdef MNEME_FIBER_ASAN
  noteEscape(worker);
#endif
  worker.isInService = 0;
  worker.currentFiber = &worker.mainFiber;
  if (worker.pendingKind != FaultKind::None)
    state.fail(worker.pendingKind, describeFault(worker), worker.pendingAddress);
  worker.fibers.reset();
  state.pool->interruptAll(&worker);
}

void runShare(Worker& worker, void* argument) {
  LaunchState& state = *static_cast<LaunchState*>(argument);
  FloatEnvironment environment;
  noteMainStack(worker);
  try {
    prepareWorker(worker, state);
  } catch (const std::bad_alloc&) {
    state.fail(FaultKind::OutOfMemory, "there is no host memory for the blocks of kernel '" +
                                           std::string(state.header->kernelName) + "'");
    return;
  }
  setCurrentWorker(&worker);
  if (sigsetjmp(worker.escape, 0) == 0)
    runDeviceCode(worker, state);
  else
    afterEscape(worker, state);
  setCurrentWorker(nullptr);
  if (!state.isLoop)
    releaseBlocks(worker);
}

void describeLaunch(LaunchState& state, const mneme_cpu_image_header& header,
                    const LaunchShape& shape, void* const* args, double timeoutSeconds) {
  static std::atomic<uint64_t> nextGridId{1};
  state.header = &header;
  state.blockCount = 1;
  state.threadsPerBlock = 1;
  for (int i = 0; i < 3; ++i) {
    state.launch.grid[i] = shape.grid[i];
    state.launch.block[i] = shape.block[i];
    state.launch.cluster[i] = 1;
    state.blockCount *= shape.grid[i];
    state.threadsPerBlock *= shape.block[i];
  }
  state.launch.dynamicSharedBytes = static_cast<uint32_t>(shape.dynamicSharedBytes);
  state.launch.args = args;
  state.launch.gridId = nextGridId.fetch_add(1, std::memory_order_relaxed);
  state.sharedBytes = header.staticSharedBytes + shape.dynamicSharedBytes;
  state.sharedAlignBytes = header.sharedAlignBytes;
  state.stackBytes = header.localBytes <= defaultStackBytes / 2
                         ? defaultStackBytes
                         : defaultStackBytes / 2 + 2 * uint64_t{header.localBytes};
  state.isCooperative = shape.isCooperative;
  state.isReversed = shape.isReversed && (header.flags & MNEME_CPU_IMAGE_WAITS) == 0;
  state.isLoop = (header.flags & MNEME_CPU_IMAGE_LOOP) != 0;
  state.timeoutSeconds = timeoutSeconds;
}

uint32_t chooseParticipants(const LaunchState& state, const LoadedImage& image, uint32_t workers) {
  const uint64_t blockNs = image.lastBlockNs.load(std::memory_order_relaxed);
  if (!state.isCooperative && blockNs != 0 && blockNs * state.blockCount < worthWakingNs)
    return 1;
  return static_cast<uint32_t>(std::min<uint64_t>(workers, state.blockCount));
}

} // namespace

LaunchOutcome run(Image& image, const LaunchShape& shape, void* const* args, double timeoutSeconds,
                  const std::atomic<int>* waiting) {
  auto& loaded = static_cast<LoadedImage&>(image);
  // The tighter limits of CUDA are checked where launches are CUDA's.
  static const Description limits = descriptionFor("gfx");
  checkShape(limits, shape, loaded.header().staticSharedBytes);
  installFaultHandlers();
  LaunchState state;
  describeLaunch(state, loaded.header(), shape, args, timeoutSeconds);
  alignas(16) char workspace[256] = {};
  if (state.isCooperative)
    state.launch.gridWorkspace = workspace;
  const PoolLease lease(waiting != nullptr);
  Pool& pool = lease.pool();
  std::lock_guard lock(pool.mutex());
  state.pool = &pool;
  state.waiting = waiting;
  state.participants = pool.require(chooseParticipants(state, loaded, pool.size()));
  if (!state.isLoop)
    state.residentLimit = residentLimit(state);
  const auto start = std::chrono::steady_clock::now();
  if (timeoutSeconds > 0)
    pool.armTimeout(state, timeoutSeconds);
  pool.run(state.participants, runShare, &state, &state.isStopping);
  if (timeoutSeconds > 0)
    pool.disarmTimeout();
  const auto elapsed = std::chrono::steady_clock::now() - start;
  state.outcome.elapsedNs =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count());
  loaded.lastBlockNs.store(
      std::max<uint64_t>(1, state.outcome.elapsedNs * state.participants / state.blockCount),
      std::memory_order_relaxed);
  return std::move(state.outcome);
}

} // namespace mneme::device::cpu
