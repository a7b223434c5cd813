#include "runtime/emulator/executor/services.h"

#include <cstdio>

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "runtime/emulator/executor/block.h"
#include "runtime/emulator/executor/device_heap.h"
#include "runtime/emulator/executor/device_printf.h"
#include "runtime/emulator/executor/texture.h"

namespace mneme::device::cpu {

namespace {

Thread& threadOf(mneme_cpu_context* context) noexcept {
  return *reinterpret_cast<Thread*>(context);
}

[[noreturn, gnu::cold, gnu::noinline]] void failHere(Thread& thread, FaultKind kind,
                                                     const std::string& what) {
  Worker& worker = *thread.worker;
  {
    ServiceScope guard(worker);
    worker.state->fail(kind, "kernel '" + std::string(worker.state->header->kernelName) + "' " +
                                 what + " in " + whereIs(thread));
  }
  worker.escapeDevice();
}

// In a loop image one logical thread runs to its end before the next starts: an operation across
// threads there is a bug of the compiler, reported instead of computed wrongly.
[[noreturn, gnu::cold, gnu::noinline]] void failInLoop(Thread& thread, const char* operation) {
  failHere(thread, FaultKind::Trap,
           std::string("uses ") + operation + " but was compiled as a plain loop");
}

inline Block& blockOf(Thread& thread, const char* operation) {
  if (__builtin_expect(!thread.block, 0))
    failInLoop(thread, operation);
  return *thread.block;
}

void barrier(mneme_cpu_context* context, uint32_t id, uint32_t count) {
  Thread& thread = threadOf(context);
  blockOf(thread, "a barrier").barrier(thread, id, count);
}

uint32_t barrierReduce(mneme_cpu_context* context, uint32_t id, uint32_t op, uint32_t predicate) {
  Thread& thread = threadOf(context);
  return blockOf(thread, "a barrier").barrierReduce(thread, id, op, predicate);
}

void warpSync(mneme_cpu_context* context, uint32_t mask) {
  Thread& thread = threadOf(context);
  blockOf(thread, "__syncwarp").meet(thread, mask, {WarpOperation::Sync, 0, 0, 0, 0});
}

uint32_t shuffle(mneme_cpu_context* context, uint32_t mask, uint32_t mode, uint32_t value,
                 uint32_t operandB, uint32_t clamp, uint32_t* inRange) {
  Thread& thread = threadOf(context);
  Block& block = blockOf(thread, "a shuffle");
  block.meet(thread, mask, {WarpOperation::Shuffle, mode, value, operandB, clamp});
  const Warp& warp = block.warpOf(thread);
  if (inRange)
    *inRange = warp.flag[thread.context.lane];
  return static_cast<uint32_t>(warp.result[thread.context.lane]);
}

uint32_t meetForResult(mneme_cpu_context* context, uint32_t mask, WarpOperation operation,
                       uint32_t mode, uint64_t value) {
  Thread& thread = threadOf(context);
  Block& block = blockOf(thread, "a warp operation");
  block.meet(thread, mask, {operation, mode, value, 0, 0});
  return static_cast<uint32_t>(block.warpOf(thread).result[thread.context.lane]);
}

uint32_t vote(mneme_cpu_context* context, uint32_t mask, uint32_t mode, uint32_t predicate) {
  return meetForResult(context, mask, WarpOperation::Vote, mode, predicate);
}

uint32_t matchAny(mneme_cpu_context* context, uint32_t mask, uint64_t value) {
  return meetForResult(context, mask, WarpOperation::MatchAny, 0, value);
}

uint32_t matchAll(mneme_cpu_context* context, uint32_t mask, uint64_t value, uint32_t* allEqual) {
  const uint32_t result = meetForResult(context, mask, WarpOperation::MatchAll, 0, value);
  if (allEqual)
    *allEqual = result != 0;
  return result;
}

uint32_t warpReduce(mneme_cpu_context* context, uint32_t mask, uint32_t op, uint32_t value) {
  return meetForResult(context, mask, WarpOperation::Reduce, op, value);
}

uint32_t activeMask(mneme_cpu_context* context) {
  Thread& thread = threadOf(context);
  if (!thread.block)
    return 1u << (thread.context.lane % MNEME_CPU_WARP_SIZE);
  return static_cast<uint32_t>(thread.block->activeMask(thread, __builtin_return_address(0)));
}

uint64_t wave(mneme_cpu_context* context, uint32_t site, uint32_t operation, uint64_t value,
              uint32_t operand) {
  Thread& thread = threadOf(context);
  return blockOf(thread, "a wave operation").wave(thread, site, operation, value, operand);
}

void yieldThread(mneme_cpu_context* context) {
  Thread& thread = threadOf(context);
  if (thread.block)
    thread.block->yield(thread);
  else
    checkStop(*thread.worker);
}

void noteProgress(mneme_cpu_context* context) {
  threadOf(context).worker->progress.fetch_add(1, std::memory_order_relaxed);
}

void trap(mneme_cpu_context* context) {
  failHere(threadOf(context), FaultKind::Trap, "executed a trap");
}

std::string triple(const uint32_t* values) {
  return "[" + std::to_string(values[0]) + "," + std::to_string(values[1]) + "," +
         std::to_string(values[2]) + "]";
}

void assertFail(mneme_cpu_context* context, const char* message, const char* file, uint32_t line,
                const char* function) {
  Thread& thread = threadOf(context);
  Worker& worker = *thread.worker;
  {
    ServiceScope guard(worker);
    std::string text = std::string(file ? file : "") + ":" + std::to_string(line) + ": " +
                       (function ? function : "") + ": block: " + triple(context->blockId);
    if (thread.block)
      text += ", thread: " + triple(context->threadId);
    text += " Assertion `" + std::string(message ? message : "") + "` failed.";
    fprintf(stderr, "%s\n", text.c_str());
    worker.state->fail(FaultKind::Assert, text);
  }
  worker.escapeDevice();
}

int32_t printFormatted(mneme_cpu_context* context, const char* format, const void* packedArgs) {
  Worker& worker = *threadOf(context).worker;
  int32_t result = 0;
  {
    ServiceScope guard(worker);
    result = devicePrintf(format, packedArgs);
  }
  checkStop(worker);
  return result;
}

uint64_t printBegin(mneme_cpu_context* context, uint32_t toErrors) {
  ServiceScope guard(*threadOf(context).worker);
  return reinterpret_cast<uint64_t>(new DevicePrint(toErrors != 0));
}

uint64_t printPiece(mneme_cpu_context* context, uint64_t print, bool isLast,
                    void (*append)(DevicePrint&, const void*, uint64_t), const void* piece,
                    uint64_t size) {
  Worker& worker = *threadOf(context).worker;
  uint64_t result = print;
  {
    ServiceScope guard(worker);
    auto* pending = reinterpret_cast<DevicePrint*>(print);
    append(*pending, piece, size);
    if (isLast) {
      result = static_cast<uint64_t>(pending->print());
      delete pending;
    }
  }
  checkStop(worker);
  return result;
}

uint64_t printValues(mneme_cpu_context* context, uint64_t print, const uint64_t* values,
                     uint32_t count, uint32_t isLast) {
  const auto append = [](DevicePrint& pending, const void* piece, uint64_t size) {
    pending.addValues(static_cast<const uint64_t*>(piece), size);
  };
  return printPiece(context, print, isLast != 0, append, values, count);
}

uint64_t printText(mneme_cpu_context* context, uint64_t print, const char* text, uint64_t sizeBytes,
                   uint32_t isLast) {
  const auto append = [](DevicePrint& pending, const void* piece, uint64_t size) {
    pending.addText(static_cast<const char*>(piece), size);
  };
  return printPiece(context, print, isLast != 0, append, text, sizeBytes);
}

void* deviceMalloc(mneme_cpu_context* context, uint64_t sizeBytes) {
  ServiceScope guard(*threadOf(context).worker);
  return heapAllocate(sizeBytes);
}

void deviceFree(mneme_cpu_context* context, void* pointer) {
  bool isKnown = true;
  {
    ServiceScope guard(*threadOf(context).worker);
    isKnown = heapRelease(pointer);
  }
  if (!isKnown)
    failHere(threadOf(context), FaultKind::Trap,
             "frees a pointer that device malloc did not return");
}

uint64_t nowNs(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t readClock() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return nowNs(CLOCK_MONOTONIC);
#endif
}

uint64_t globalTimer() { return nowNs(CLOCK_REALTIME); }

void nanosleepThread(mneme_cpu_context* context, uint32_t) { yieldThread(context); }

uint32_t multiprocessor(mneme_cpu_context* context) { return threadOf(context).worker->index; }

void accessTextureObject(mneme_cpu_context* context, uint64_t object, uint32_t operation,
                         const uint32_t* coordinates, uint32_t* values, uint32_t bytes) {
  const auto* texture = reinterpret_cast<const mneme_cpu_texture*>(object);
  if (texture->magic != MNEME_CPU_TEXTURE_MAGIC)
    failHere(threadOf(context), FaultKind::Trap, "reads from an invalid texture object");
  if (!accessTexture(*texture, operation, coordinates, values, bytes))
    failHere(threadOf(context), FaultKind::Trap, "leaves a surface");
}

uint32_t lanesStart(mneme_cpu_context* context, uint32_t warp) {
  return threadOf(context).worker->rounds->startOfWarp(warp);
}

uint32_t lanesMeet(mneme_cpu_context* context, uint32_t warp, uint32_t any, uint32_t all) {
  return threadOf(context).worker->rounds->meetInRound(warp, any, all);
}

uint32_t blockMeets(mneme_cpu_context* context) {
  return threadOf(context).worker->rounds->endRound();
}

constexpr mneme_cpu_services table = {
    MNEME_CPU_IMAGE_ABI,
    0,
    barrier,
    barrierReduce,
    warpSync,
    shuffle,
    vote,
    matchAny,
    matchAll,
    warpReduce,
    activeMask,
    yieldThread,
    trap,
    assertFail,
    printFormatted,
    deviceMalloc,
    deviceFree,
    readClock,
    globalTimer,
    nanosleepThread,
    multiprocessor,
    wave,
    printBegin,
    printValues,
    printText,
    noteProgress,
    accessTextureObject,
    lanesStart,
    lanesMeet,
    blockMeets,
};

} // namespace

const mneme_cpu_services& serviceTable() noexcept { return table; }

} // namespace mneme::device::cpu
