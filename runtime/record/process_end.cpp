// Room record: the ways a process begins, multiplies and ends. Hooks are set by a constructor; the
// session ends at exit(), at _exit(), or before the program is replaced by another.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "runtime/base/log.h"
#include "runtime/jit/mneme_rt.h"
#include "runtime/record/exported.h"
#include "runtime/record/process_facts.h"
#include "runtime/record/session.h"
#include "runtime/record/settings.h"

namespace mneme::record {
namespace {

pid_t constructedIn = 0;
std::atomic<bool> hasSeenModules{false}; ///< instrumented code that has signed off

int onLaunch(void*, const mneme_launch* launch) { return Session::instance().launch(*launch); }

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
  mneme_rt_set_hooks(nullptr);
  constructedIn = 0;
  if (Session* session = Session::existing())
    session->finish();
  else
    sayNothingSeen();
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

/// exec*() of the owner: what is queued is written first. The program goes on unrecorded if the
/// call fails.
template <typename... Args> int replaceProgram(const char* name, Args... args) {
  endSessionFromAnywhere();
  const auto function = next<int (*)(Args...)>(name);
  if (function)
    return function(args...);
  errno = ENOSYS;
  return -1;
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
  constructedIn = getpid();
  pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);
  std::atexit(endSession);
  at_quick_exit(endSession);
  mneme_rt_set_hooks(&kHooks);
}

} // namespace mneme::record

using mneme::record::leave;
using mneme::record::replaceProgram;

MNEME_RECORD_API void _exit(int status) { leave("_exit", status); }
MNEME_RECORD_API void _Exit(int status) { leave("_Exit", status); }

MNEME_RECORD_API int execve(const char* path, char* const argv[], char* const envp[]) {
  return replaceProgram("execve", path, argv, envp);
}
MNEME_RECORD_API int execv(const char* path, char* const argv[]) {
  return replaceProgram("execv", path, argv);
}
MNEME_RECORD_API int execvp(const char* file, char* const argv[]) {
  return replaceProgram("execvp", file, argv);
}
MNEME_RECORD_API int execvpe(const char* file, char* const argv[], char* const envp[]) {
  return replaceProgram("execvpe", file, argv, envp);
}
MNEME_RECORD_API int fexecve(int file, char* const argv[], char* const envp[]) {
  return replaceProgram("fexecve", file, argv, envp);
}

namespace {

/// Arguments of an execl*() call up to the null that ends them.
std::vector<char*> collect(const char* first, va_list& list) {
  std::vector<char*> arguments{const_cast<char*>(first)};
  while (arguments.back())
    arguments.push_back(va_arg(list, char*));
  return arguments;
}

} // namespace

MNEME_RECORD_API int execl(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const std::vector<char*> arguments = collect(first, list);
  va_end(list);
  return replaceProgram("execv", path, arguments.data());
}
MNEME_RECORD_API int execlp(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const std::vector<char*> arguments = collect(first, list);
  va_end(list);
  return replaceProgram("execvp", file, arguments.data());
}
MNEME_RECORD_API int execle(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const std::vector<char*> arguments = collect(first, list);
  char* const* environment = va_arg(list, char* const*);
  va_end(list);
  return replaceProgram("execve", path, arguments.data(), environment);
}
