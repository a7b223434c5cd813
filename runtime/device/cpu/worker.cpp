// The longjmp out of device code crosses stacks, which glibc's fortified longjmp refuses.
#undef _FORTIFY_SOURCE
#include <cstdlib>

#include "runtime/device/cpu/block.h"

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

SharedBuffer::~SharedBuffer() { free(base_); }

char* SharedBuffer::require(uint64_t sizeBytes, uint64_t alignBytes) {
  const uint64_t align = alignBytes < 256 ? 256 : alignBytes;
  // Vectorised loads of the last element may touch a few bytes behind it.
  const uint64_t wanted = (sizeBytes + 64 + align - 1) / align * align;
  if (wanted <= capacity_ && align <= align_)
    return base_;
  free(base_);
  capacity_ = wanted;
  align_ = align;
  base_ = static_cast<char*>(aligned_alloc(align, wanted));
  if (!base_) {
    capacity_ = 0;
    throw std::bad_alloc();
  }
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
