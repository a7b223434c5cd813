#include "runtime/recorder/inside_call.h"

#include <atomic>
#include <cerrno>
#include <utility>

#include <sys/uio.h>
#include <unistd.h>

extern "C" void* __libc_stack_end; // of the loader

namespace mneme::record {
namespace {

struct Present {
  uint64_t mark = 0;                        ///< 0: none
  const volatile uint64_t* place = nullptr; ///< of the mark, on this thread's stack
  const void* frame = nullptr;              ///< of who made the call
  Gate* gate = nullptr;
  Call::Kind kind = Call::Kind::Recorder;
};
thread_local Present present;
std::atomic<uint64_t> lastMark{0};
std::atomic<bool> isAnyLeft{false};

void leave(const Present& left) noexcept {
  if (left.kind == Call::Kind::Passing)
    left.gate->leave();
  else if (left.kind == Call::Kind::Alone)
    left.gate->open();
}

void leaveWithoutReturning() noexcept {
  if (present.mark == 0)
    return;
  isAnyLeft.store(true, std::memory_order_relaxed);
  giveUpCall();
}

/// A thread that ends inside a call, its stack not unwound, leaves it here.
struct EndOfThread {
  bool isWatching = false;
  ~EndOfThread() { leaveWithoutReturning(); }
};
thread_local EndOfThread endOfThread;

/// Whether a place is on the stack that the process began with, which stays mapped. Nothing else is
/// mapped that near.
bool isOnFirstStack(const volatile void* place) noexcept {
  constexpr uintptr_t kNear = 8 << 20;
  return reinterpret_cast<uintptr_t>(__libc_stack_end) - reinterpret_cast<uintptr_t>(place) < kNear;
}

/// What is there may belong to another function by now.
[[clang::no_sanitize("address", "thread")]] uint64_t readAnyway(const volatile uint64_t* place) {
  return *place;
}

/// Whether the call's frame still exists, as seen from `frame`. Stacks grow downwards; what was
/// pushed above the old frame since has overwritten it.
bool isThere(const void* frame) noexcept {
  if (frame >= present.frame)
    return false;
  if (isOnFirstStack(present.place))
    return readAnyway(present.place) == present.mark;
  // The stack may be gone as well.
  uint64_t found = 0;
  iovec here{&found, sizeof found};
  iovec there{const_cast<uint64_t*>(present.place), sizeof found};
  const int error = errno;
  const ssize_t copied = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
  const bool isForbidden = copied < 0 && errno != EFAULT;
  errno = error;
  return isForbidden || (copied == sizeof found && found == present.mark);
}

} // namespace

bool isInsideCall() noexcept {
  if (present.mark == 0)
    return false;
  if (isThere(__builtin_frame_address(0)))
    return true;
  leaveWithoutReturning();
  return false;
}

bool wasAnyCallLeft() noexcept { return isAnyLeft.load(std::memory_order_relaxed); }

void giveUpCall() noexcept {
  const Present left = std::exchange(present, Present());
  if (left.mark == 0)
    return;
  leave(left);
  DeferredCancellation::forgetAll();
}

Call::Call(Gate& gate, Kind kind) noexcept : mark_(++lastMark) {
  endOfThread.isWatching = true; // its first use in a thread is what makes it
  present = {mark_, &mark_, __builtin_frame_address(0), &gate, kind};
}

Call::~Call() {
  if (present.mark == mark_) // not given up
    leave(std::exchange(present, Present()));
  mark_ = 0;
}

Alone::Alone(Gate& gate, bool isShut, Signals signals) noexcept
    : gate_(gate), isShut_(isShut),
      call_(gate, isShut_ ? Call::Kind::Alone : Call::Kind::Recorder) {
  if (signals == Signals::Held)
    signals_.emplace(BlockedSignals::Which::ButFaults);
}

Alone Alone::atTheEnd(Gate& gate) noexcept {
  return Alone(gate, gate.shutAnyway(kRecordingPatience, kCallPatience), Signals::Handled);
}

Alone::~Alone() noexcept(false) = default;

Alone::Wait::Wait(Alone& owner, Gate::Milliseconds patience) noexcept : owner_(owner) {
  if (owner.isShut_)
    owner.gate_.yieldAfter(patience);
  if (owner.signals_)
    signals_.emplace(*owner.signals_);
}

Alone::Wait::~Wait() {
  signals_.reset();
  if (owner_.isShut_)
    owner_.isAlone_ = owner_.gate_.endYielding() && owner_.isAlone_;
}

} // namespace mneme::record
