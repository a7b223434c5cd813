// Room emulator/executor: stackful fibers (Boost.Context) with pooled, guarded stacks. Independent
// of kernels. Not thread-safe: a pool belongs to one worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MNEME_FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define MNEME_FIBER_ASAN 1
#endif
#ifdef MNEME_FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace mneme::device::cpu {

/// A stack and the place where it was left. The worker's own stack is a Fiber, too (without owner).
struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;
  void* owner = nullptr;    ///< the worker
  char* stackLow = nullptr; ///< lowest usable byte
  size_t stackBytes = 0;
  Fiber* nextFree = nullptr;
#ifdef MNEME_FIBER_ASAN
  void* fakeStack = nullptr;
#endif
};

#ifdef MNEME_FIBER_ASAN
/// Set while the sanitizer is notified of a switch, which must not be interrupted by another one.
/// Out of line, because an idle fiber may continue on another thread and must not keep the address
/// of a thread-local variable.
void setSwitchingFibers(bool isSwitching) noexcept;
bool isSwitchingFibers() noexcept;
#endif

/// Leaves `*current` (the running fiber) for `to`, which becomes `*current`; returns when another
/// fiber jumps back.
inline void jumpFiber(Fiber*& current, Fiber* to) noexcept {
  Fiber* from = current;
#ifdef MNEME_FIBER_ASAN
  setSwitchingFibers(true);
  current = to;
  __sanitizer_start_switch_fiber(&from->fakeStack, to->stackLow, to->stackBytes);
#else
  current = to;
#endif
  const auto arrival = boost::context::detail::jump_fcontext(to->context, from);
#ifdef MNEME_FIBER_ASAN
  __sanitizer_finish_switch_fiber(from->fakeStack, nullptr, nullptr);
  setSwitchingFibers(false);
#endif
  static_cast<Fiber*>(arrival.data)->context = arrival.fctx;
}

/// The first thing a fiber's entry function does; returns the fiber that jumped here.
inline Fiber* enterFiber(boost::context::detail::transfer_t arrival) noexcept {
#ifdef MNEME_FIBER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
  setSwitchingFibers(false);
#endif
  auto* from = static_cast<Fiber*>(arrival.data);
  from->context = arrival.fctx;
  return from;
}

/// Fibers of one stack size. Their entry function never returns: an idle fiber gives itself back
/// with put() and jumps away. The next user of the fiber resumes it behind that jump.
class FiberPool {
public:
  using Entry = void (*)(boost::context::detail::transfer_t);

  FiberPool(Entry entry, void* owner) : entry_(entry), owner_(owner) {}
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  /// Makes every fiber handed out from now on have at least `stackBytes`. No fiber may be in use.
  void setStackBytes(size_t stackBytes);
  /// Makes at least `count` fibers available to take(). \throws std::bad_alloc
  void grow(size_t count);
  Fiber* take() noexcept {
    Fiber* fiber = free_;
    if (fiber)
      free_ = fiber->nextFree;
    return fiber;
  }
  void put(Fiber* fiber) noexcept {
    fiber->nextFree = free_;
    free_ = fiber;
  }
  size_t size() const noexcept { return fibers_.size(); }
  /// Gives all stacks back. No fiber may be in use.
  void releaseAll() noexcept;
  /// Forgets what every fiber was doing; all are free afterwards.
  void reset() noexcept;
  /// Whether `address` lies in a guard page below one of the stacks.
  bool isGuard(uint64_t address) const noexcept;

private:
  struct Slab {
    char* base;
    size_t bytes;
    size_t stride;
    bool isGuarded;
  };
  void addSlab(size_t count);
  void restart(Fiber& fiber) noexcept;

  Entry entry_;
  void* owner_;
  Fiber* free_ = nullptr;
  size_t stackBytes_ = 0;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Slab> slabs_;
};

} // namespace mneme::device::cpu
