// The longjmp out of device code crosses stacks, which glibc's fortified longjmp refuses.
#undef _FORTIFY_SOURCE
#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

#include "runtime/emulator/executor/block.h"

namespace mneme::device::cpu {

void LaunchState::fail(FaultKind kind, const std::string& message, uint64_t address) noexcept {
  std::lock_guard lock(outcomeMutex);
  if (outcome.fault == FaultKind::None) {
    outcome.fault = kind;
    outcome.faultAddress = address;
    try {
      outcome.message = message;
    } catch (...) {
    }
  }
  isStopping.store(true, std::memory_order_release);
}

SharedBuffer::~SharedBuffer() { release(); }

void SharedBuffer::release() noexcept {
  if (place_)
    munmap(place_, placeBytes_);
  place_ = base_ = nullptr;
  capacity_ = 0;
}

char* SharedBuffer::require(uint64_t sizeBytes, uint64_t alignBytes) {
  // On each side; more than the shared memory of any GPU, which a launch with too many threads
  // may believe to have.
  constexpr uint64_t guardBytes = 256 << 10;
  const auto pageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t align = std::max(alignBytes, pageBytes);
  // Vectorised loads of the last element may touch a few bytes behind it.
  const uint64_t wanted = (sizeBytes + 64 + pageBytes - 1) / pageBytes * pageBytes;
  if (wanted <= capacity_ && reinterpret_cast<uintptr_t>(base_) % align == 0)
    return base_;
  release();
  const uint64_t bytes = guardBytes + align - pageBytes + wanted + guardBytes;
  void* got = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED)
    throw std::bad_alloc();
  place_ = static_cast<char*>(got);
  placeBytes_ = bytes;
  const uintptr_t low = reinterpret_cast<uintptr_t>(place_) + guardBytes;
  char* const base = place_ + guardBytes + (align - low % align) % align;
  if (mprotect(base, wanted, PROT_READ | PROT_WRITE) != 0) {
    release();
    throw std::bad_alloc();
  }
  base_ = base;
  capacity_ = wanted;
  return base_;
}

Worker::Worker(uint32_t number) : index(number), fibers(fiberMain, this) {
  mainFiber.owner = this;
  currentFiber = &mainFiber;
}

Worker::~Worker() = default;

void Worker::escapeDevice() noexcept {
#ifdef MNEME_FIBER_ASAN
  setSwitchingFibers(true);
  if (currentFiber != &mainFiber)
    __sanitizer_start_switch_fiber(nullptr, mainFiber.stackLow, mainFiber.stackBytes);
#endif
  siglongjmp(escape, 1);
}

namespace {

std::string triple(const uint32_t* values) {
  return "(" + std::to_string(values[0]) + "," + std::to_string(values[1]) + "," +
         std::to_string(values[2]) + ")";
}

} // namespace

std::string whereIs(const Thread& thread) {
  std::string text = "block " + triple(thread.context.blockId);
  if (thread.block)
    text += ", thread " + triple(thread.context.threadId);
  return text;
}

std::string whereIs(const Worker& worker) {
  return worker.current ? whereIs(*worker.current) : std::string("an unknown block");
}

} // namespace mneme::device::cpu
