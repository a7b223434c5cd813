#include "runtime/compiler/fatal_guard.h"

#include <llvm/Support/ErrorHandling.h>

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace mneme::compile {

struct FatalCleanups {
  static void run(FatalCleanup* first) {
    for (FatalCleanup* cleanup = first; cleanup; cleanup = cleanup->next_)
      cleanup->action_(cleanup->argument_);
  }
};

namespace {

// 16 MiB: twice the main thread's usual stack, enough for LLVM's recursive passes.
constexpr size_t kStackBytes = size_t{16} << 20;
constexpr size_t kMessageBytes = 2048;

struct Frame {
  sigjmp_buf jump;
  char message[kMessageBytes];
};

thread_local Frame* activeFrame = nullptr;
thread_local FatalCleanup* cleanups = nullptr;

[[noreturn]] void leave(Frame* frame, const char* reason) {
  strncpy(frame->message, reason ? reason : "", kMessageBytes - 1);
  frame->message[kMessageBytes - 1] = '\0';
  activeFrame = nullptr;
  FatalCleanups::run(std::exchange(cleanups, nullptr));
  siglongjmp(frame->jump, 1);
}

void onFatalError(void*, const char* reason, bool) {
  if (activeFrame)
    leave(activeFrame, reason);
}

void onBadAlloc(void*, const char*, bool) {
  if (activeFrame)
    leave(activeFrame, "out of memory");
}

struct Work {
  const std::function<void()>* action;
  GuardResult result;
  std::exception_ptr exception;
};

void runInFrame(Work& work) {
  Frame frame;
  if (sigsetjmp(frame.jump, 0) != 0) {
    work.result.isFatal = true;
    work.result.message = frame.message;
    return;
  }
  activeFrame = &frame;
  try {
    (*work.action)();
  } catch (...) {
    work.exception = std::current_exception();
  }
  activeFrame = nullptr;
}

void* threadMain(void* argument) {
  runInFrame(*static_cast<Work*>(argument));
  return nullptr;
}

bool runOnOwnThread(Work& work) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0)
    return false;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int status = pthread_create(&thread, &attributes, threadMain, &work);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (status != 0)
    return false;
  pthread_join(thread, nullptr);
  return true;
}

} // namespace

FatalCleanup::FatalCleanup(void (*action)(void*), void* argument) noexcept
    : action_(action), argument_(argument), next_(std::exchange(cleanups, this)) {}

FatalCleanup::~FatalCleanup() { cleanups = next_; }

/// Called by the linker-wrapped exit, _exit and abort; returns when no compilation is active here.
void leaveActiveGuard(const char* reason) {
  if (activeFrame)
    leave(activeFrame, reason);
}

GuardResult runGuarded(const std::function<void()>& work) {
  static std::once_flag installed;
  std::call_once(installed, [] {
    llvm::install_fatal_error_handler(onFatalError);
    llvm::install_bad_alloc_error_handler(onBadAlloc);
  });
  Work state{&work, {}, nullptr};
  if (!runOnOwnThread(state))
    runInFrame(state);
  if (state.exception)
    std::rethrow_exception(state.exception);
  return state.result;
}

} // namespace mneme::compile

extern "C" {
[[noreturn]] void __real_exit(int status);
[[noreturn]] void __real__exit(int status);
[[noreturn]] void __real_abort();

[[noreturn]] void __wrap_exit(int status) {
  mneme::compile::leaveActiveGuard("LLVM asked to end the process");
  __real_exit(status);
}
[[noreturn]] void __wrap__exit(int status) {
  mneme::compile::leaveActiveGuard("LLVM asked to end the process");
  __real__exit(status);
}
[[noreturn]] void __wrap_abort() {
  mneme::compile::leaveActiveGuard("LLVM aborted");
  __real_abort();
}
}
