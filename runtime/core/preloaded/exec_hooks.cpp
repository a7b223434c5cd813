// Room core/preloaded: functions that replace this program by another, for every library that is
// preloaded. They may be called in signal handlers, and in children of vfork().
#include "runtime/core/preloaded/exec_hooks.h"

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "runtime/core/preloaded/inherited.h"
#include "runtime/core/preloaded/preloaded_exported.h"

namespace mneme::preloaded {
namespace {

ReplacementHooks hooks;

bool isProgram(const char* path) noexcept {
  return path && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/// As execvp() and its like see it: a name without a slash is looked for in PATH.
bool mayBeProgram(const char* file) noexcept {
  return file && (!std::strchr(file, '/') || isProgram(file));
}

/// Programs try one path after the other: those that lead nowhere cost nothing.
template <typename... Args> int replaceProgram(const char* name, bool canSucceed, Args... args) {
  const auto function = reinterpret_cast<int (*)(Args...)>(dlsym(RTLD_NEXT, name));
  if (!function) {
    errno = ENOSYS;
    return -1;
  }
  const bool isTold = canSucceed && hooks.before && hooks.before();
  const int result = function(args...);
  const int error = errno;
  if (isTold)
    hooks.failed();
  errno = error;
  return result;
}

/// For functions that have no argument for the environment: those without it are called where the
/// program inherits this process' own.
template <typename... Args>
int replaceWithOwn(const char* name, const char* nameWithEnvironment, bool canSucceed,
                   Args... args) {
  return withInherited(environ, [&](char* const* environment) {
    return environment == environ
               ? replaceProgram(name, canSucceed, args...)
               : replaceProgram(nameWithEnvironment, canSucceed, args..., environment);
  });
}

} // namespace

void setReplacementHooks(ReplacementHooks wanted) noexcept { hooks = wanted; }

} // namespace mneme::preloaded

using mneme::preloaded::isProgram;
using mneme::preloaded::mayBeProgram;
using mneme::preloaded::replaceProgram;
using mneme::preloaded::replaceWithOwn;
using mneme::preloaded::withInherited;

MNEME_PRELOADED_API int execve(const char* path, char* const argv[], char* const envp[]) {
  return withInherited(envp, [&](char* const* environment) {
    return replaceProgram("execve", isProgram(path), path, argv, environment);
  });
}
MNEME_PRELOADED_API int execv(const char* path, char* const argv[]) {
  return replaceWithOwn("execv", "execve", isProgram(path), path, argv);
}
MNEME_PRELOADED_API int execvp(const char* file, char* const argv[]) {
  return replaceWithOwn("execvp", "execvpe", mayBeProgram(file), file, argv);
}
MNEME_PRELOADED_API int execvpe(const char* file, char* const argv[], char* const envp[]) {
  return withInherited(envp, [&](char* const* environment) {
    return replaceProgram("execvpe", mayBeProgram(file), file, argv, environment);
  });
}
MNEME_PRELOADED_API int fexecve(int file, char* const argv[], char* const envp[]) {
  return withInherited(envp, [&](char* const* environment) {
    return replaceProgram("fexecve", true, file, argv, environment);
  });
}
MNEME_PRELOADED_API int execveat(int directory, const char* path, char* const argv[],
                                 char* const envp[], int flags) {
  const bool isFile = !*path || faccessat(directory, path, X_OK, AT_EACCESS) == 0;
  return withInherited(envp, [&](char* const* environment) {
    return replaceProgram("execveat", isFile, directory, path, argv, environment, flags);
  });
}

namespace {

/// How many arguments of an execl*() call there are before the null that ends them.
size_t countArguments(const char* first, va_list list) {
  size_t count = 0;
  for (const char* argument = first; argument; argument = va_arg(list, const char*))
    ++count;
  return count;
}

/// Puts them, and the null, into `arguments`. Returns what execle() has behind the null.
char* const* takeArguments(const char* first, va_list list, char** arguments, bool isExecle) {
  *arguments = const_cast<char*>(first);
  while (*arguments)
    *++arguments = va_arg(list, char*);
  return isExecle ? va_arg(list, char* const*) : nullptr;
}

} // namespace

// The arguments go to the stack: these functions may be called in signal handlers, and in a child
// of vfork(), where nothing would free them.
MNEME_PRELOADED_API int execl(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const size_t count = countArguments(first, list);
  va_end(list);
  auto** arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
  va_start(list, first);
  takeArguments(first, list, arguments, false);
  va_end(list);
  return execv(path, arguments);
}
MNEME_PRELOADED_API int execlp(const char* file, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const size_t count = countArguments(first, list);
  va_end(list);
  auto** arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
  va_start(list, first);
  takeArguments(first, list, arguments, false);
  va_end(list);
  return execvp(file, arguments);
}
MNEME_PRELOADED_API int execle(const char* path, const char* first, ...) {
  va_list list;
  va_start(list, first);
  const size_t count = countArguments(first, list);
  va_end(list);
  auto** arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*)));
  va_start(list, first);
  char* const* environment = takeArguments(first, list, arguments, true);
  va_end(list);
  return execve(path, arguments, environment);
}
