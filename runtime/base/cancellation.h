// Room base: pthread_cancel() of the application's threads while they run code of ours.
#pragma once

#include <utility>

#include <pthread.h>

namespace mneme {

/// Sets this thread's state of cancellation back to `state`; a request that waits takes effect. In
/// a thread that is cancelled asynchronously it does so in pthread_testcancel():
/// pthread_setcancelstate() of glibc 2.36 ends such a thread without PTHREAD_CANCELED as its
/// result.
inline void restoreCancellation(int state) noexcept(false) {
  if (state == PTHREAD_CANCEL_DISABLE)
    return;
  int type = PTHREAD_CANCEL_DEFERRED;
  pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
  pthread_setcancelstate(state, nullptr);
  if (type == PTHREAD_CANCEL_DEFERRED)
    return;
  pthread_testcancel();
  pthread_setcanceltype(type, nullptr);
}

/// While one lives this thread is not cancelled: the unwinding would run through functions that
/// must not throw. A request made meanwhile is kept, as everywhere where a thread cannot be
/// cancelled. One that is cancelled asynchronously may be so in the constructor and in the
/// destructor; these and what calls them must let the unwinding pass.
class DeferredCancellation {
public:
  DeferredCancellation() noexcept(false) : outer_(std::exchange(innermost(), this)) {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
    if (!outer_)
      outermostState() = before_;
  }
  ~DeferredCancellation() noexcept(false) {
    innermost() = outer_;
    restoreCancellation(before_);
  }
  DeferredCancellation(const DeferredCancellation&) = delete;
  DeferredCancellation& operator=(const DeferredCancellation&) = delete;

  /// For a thread that has jumped out of the lives of those it had: it can be cancelled again.
  static void forgetAll() noexcept {
    const DeferredCancellation* deferred = std::exchange(innermost(), nullptr);
    if (deferred)
      restoreCancellation(outermostState());
  }

private:
  friend class CancellationOfCaller;
  static DeferredCancellation*& innermost() {
    static thread_local DeferredCancellation* deferred = nullptr;
    return deferred;
  }
  static int& outermostState() {
    static thread_local int state = PTHREAD_CANCEL_ENABLE;
    return state;
  }

  DeferredCancellation* outer_;
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Inside the former, around a call that is the application's own: it may be cancelled there as if
/// we were not. Does nothing without the former.
class CancellationOfCaller {
public:
  CancellationOfCaller() noexcept(false)
      : deferred_(std::exchange(DeferredCancellation::innermost(), nullptr)) {
    if (deferred_)
      restoreCancellation(deferred_->before_);
  }
  ~CancellationOfCaller() noexcept(false) { // the call has returned, and cancellation comes now
    if (!deferred_)
      return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &deferred_->before_);
    DeferredCancellation::innermost() = deferred_;
  }
  CancellationOfCaller(const CancellationOfCaller&) = delete;
  CancellationOfCaller& operator=(const CancellationOfCaller&) = delete;

private:
  DeferredCancellation* deferred_;
};

} // namespace mneme
