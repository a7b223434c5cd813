// Room compiler: keeps LLVM from ending the process. LLVM reports some bad input by
// report_fatal_error, exit or abort; under this guard those end the compilation only.
//
// How: the work runs on a thread of its own (large stack, signals blocked, so the application's
// handlers and stack limits stay out of it). The fatal error handler and the linker-wrapped exit,
// _exit and abort jump back to the top of that thread with siglongjmp. No destructor of the frames
// in between runs, so what the compilation owned is leaked on purpose: its state may be broken.
// A segmentation fault inside LLVM is not caught: tuning compiles in worker processes for that.
#pragma once

#include <functional>
#include <string>

namespace mneme::compile {

struct GuardResult {
  bool isFatal = false;
  std::string message; ///< LLVM's own message if isFatal
};

/// Runs `work` to its end. An exception it throws is rethrown to the caller.
/// After a fatal error the caller must leak (not destroy) everything `work` used.
GuardResult runGuarded(const std::function<void()>& work);

/// While alive, `action(argument)` runs on the guarded thread if a fatal error ends its work: for
/// locks that others wait for.
class FatalCleanup {
public:
  FatalCleanup(void (*action)(void*), void* argument) noexcept;
  ~FatalCleanup();
  FatalCleanup(const FatalCleanup&) = delete;
  FatalCleanup& operator=(const FatalCleanup&) = delete;

private:
  friend struct FatalCleanups;
  void (*action_)(void*);
  void* argument_;
  FatalCleanup* next_;
};

} // namespace mneme::compile
