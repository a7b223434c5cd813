// Room recorder: the ways a process begins, multiplies and ends. Hooks are set by a constructor;
// the session ends at exit(), at _exit(), or before the program is replaced by another.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "runtime/core/abi/mneme_rt.h"
#include "runtime/core/base/log.h"
#include "runtime/core/base/standard_error.h"
#include "runtime/core/preloaded/exec_hooks.h"
#include "runtime/recorder/inside_call.h"
#include "runtime/recorder/loaded_code.h"
#include "runtime/recorder/process_facts.h"
#include "runtime/recorder/record_settings.h"
#include "runtime/recorder/recorder_exported.h"
#include "runtime/recorder/session.h"
#include "runtime/recorder/summary.h"

namespace mneme::record {
namespace {

pid_t constructedIn = 0;
std::atomic<bool> hasSeenModules{false}; ///< instrumented code that has signed off

/// A runtime inside of the program launches by the driver, where the launch is recorded, unless it
/// found its functions before they could be replaced.
int launchByDriver(const mneme_launch& launch) {
  const uint64_t before = launchesOfLoaded();
  const int status = mneme_rt_call_vendor(&launch);
  if (status == 0 && launchesOfLoaded() == before)
    Session::instance().noteOnce(staticRuntime().c_str(), launch.kernel);
  return status;
}

int onLaunch(void*, const mneme_launch* launch) {
  return isLaunchedByDriver(launch->vendorEntry) ? launchByDriver(*launch)
                                                 : Session::instance().launch(*launch);
}

void onModuleUnregistered(void*, const mneme_module_entry* module) {
  hasSeenModules = true;
  if (Session* session = Session::existing())
    session->moduleUnregistered(module);
}

constexpr mneme_hooks kHooks{MNEME_RT_ABI, nullptr, onLaunch, onModuleUnregistered};

/// No call of the vendor's runtime came by.
void sayNothingSeen() noexcept {
  try {
    const std::string reason = whyNothingWasSeen(false, hasSeenModules);
    if (!reason.empty() && readSettings().isRankRecorded)
      notice(reason);
  } catch (const std::exception& error) {
    notice(error.what());
  }
}

void endSession() noexcept {
  if (getpid() != constructedIn) // a forked or vforked child
    return;
  constructedIn = 0;
  if (Session* session = Session::existing()) {
    // A thread that has jumped out of a call may have left a lock taken, so do not wait for it
    // here.
    if (!wasAnyCallLeft() || !session->finishElsewhere())
      session->finish();
  } else {
    sayNothingSeen();
  }
  mneme_rt_set_hooks(nullptr); // only now: what is launched meanwhile is counted or waits
}

/// For calls that are allowed in signal handlers.
void endSessionFromAnywhere() noexcept {
  if (getpid() == constructedIn)
    if (Session* session = Session::existing())
      session->finishElsewhere();
}

void beforeFork() {
  if (Session* session = Session::existing())
    session->beforeFork();
}
void afterForkInParent() {
  if (Session* session = Session::existing())
    session->afterForkInParent();
}
void afterForkInChild() {
  mneme_rt_set_hooks(nullptr);
  if (Session* session = Session::existing())
    session->afterForkInChild();
}

template <typename Function> Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

/// exec*() of the owner: what is queued is written first, and the recording goes on if it fails.
bool pauseBeforeReplacement() noexcept {
  Session* session = getpid() == constructedIn ? Session::existing() : nullptr;
  return session && session->pauseElsewhere();
}
void goOn() noexcept { Session::existing()->resumeElsewhere(); }

/// Whether abort() ends the process, whatever else happens: a handler of the program may jump out
/// of it.
bool isAbortTheEnd() noexcept {
  struct sigaction now{};
  return sigaction(SIGABRT, nullptr, &now) != 0 || now.sa_handler == SIG_DFL ||
         now.sa_handler == SIG_IGN;
}

/// Several threads may fail the same check at once: none of them ends the process while the first
/// writes. A handler that aborts again goes straight on.
bool isFirstToAbort(std::atomic<pid_t>& first) noexcept {
  const pid_t self = gettid();
  for (pid_t nobody = 0; !first.compare_exchange_strong(nobody, self); nobody = 0) {
    if (nobody == self)
      return false;
    const timespec moment{0, 1'000'000};
    nanosleep(&moment, nullptr);
  }
  return true;
}

/// abort() and what leads to it.
void writeBeforeAbort() noexcept {
  static std::atomic<pid_t> first{0};
  if (getpid() != constructedIn || !isFirstToAbort(first))
    return;
  const int error = errno;
  if (Session* session = Session::existing()) {
    if (isAbortTheEnd())
      session->finishElsewhere();
    else
      session->writeElsewhere();
  }
  first = 0;
  errno = error;
}

[[noreturn]] void leave(const char* name, int status) {
  endSessionFromAnywhere();
  if (const auto function = next<void (*)(int)>(name))
    function(status);
  __builtin_trap(); // libc without _exit() is none
}

} // namespace

// After the constructors of the libraries this one needs and before those of the program, so that
// the exit handler runs after the destructors of the program.
[[gnu::constructor]] static void begin() {
  rememberStandardError();
  constructedIn = getpid();
  pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
  std::atexit(endSession);
  at_quick_exit(endSession);
  preloaded::setReplacementHooks({pauseBeforeReplacement, goOn});
  mneme_rt_set_hooks(&kHooks);
}

} // namespace mneme::record

using mneme::record::leave;
using mneme::record::next;
using mneme::record::writeBeforeAbort;

MNEME_RECORD_API void _exit(int status) { leave("_exit", status); }
MNEME_RECORD_API void _Exit(int status) { leave("_Exit", status); }

// What the process has launched is written first; then it dies as it would have.
MNEME_RECORD_API void abort() {
  writeBeforeAbort();
  if (const auto function = next<void (*)()>("abort"))
    function();
  __builtin_trap();
}
/// assert() of the program; it aborts inside libc, where abort() is libc's own.
MNEME_RECORD_API void __assert_fail(const char* what, const char* file, unsigned line,
                                    const char* function) {
  writeBeforeAbort();
  if (const auto fail =
          next<void (*)(const char*, const char*, unsigned, const char*)>("__assert_fail"))
    fail(what, file, line, function);
  __builtin_trap();
}
