// Room core/base: handles pthread_cancel() of application threads that run our code.
#pragma once

#include <utility>

#include <pthread.h>

namespace mneme {

/// Sets this thread's cancellation state back to `state`, so that a pending request takes effect.
/// For asynchronous cancellation this happens in pthread_testcancel(), because glibc 2.36's
/// pthread_setcancelstate() ends such a thread without PTHREAD_CANCELED as its result.
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

/// While it lives, this thread is not cancelled, because the unwinding would run through functions
/// that must not throw. Requests stay pending. Asynchronous cancellation may still happen in the
/// constructor and the destructor; these and their callers must let the unwinding pass.
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

  /// For a thread that has left these objects by longjmp: makes it cancellable again.
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

/// Inside a DeferredCancellation, around the application's own call: makes the thread cancellable
/// there, as without us. Otherwise does nothing.
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
