// Room core/preloaded: functions that start a program beside this one, for every library that is
// preloaded. Several such libraries call one another's, which changes nothing any more.
#include <cerrno>
#include <cstdio>

#include <dlfcn.h>
#include <spawn.h>

#include "runtime/core/preloaded/inherited.h"
#include "runtime/core/preloaded/preloaded_exported.h"

namespace {

template <typename Function> Function next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace

MNEME_PRELOADED_API int posix_spawn(pid_t* child, const char* path,
                                    const posix_spawn_file_actions_t* actions,
                                    const posix_spawnattr_t* attributes, char* const argv[],
                                    char* const envp[]) {
  const auto function = next(&posix_spawn, "posix_spawn");
  return mneme::preloaded::withInherited(envp, [&](char* const* environment) {
    return function ? function(child, path, actions, attributes, argv, environment) : ENOSYS;
  });
}

MNEME_PRELOADED_API int posix_spawnp(pid_t* child, const char* file,
                                     const posix_spawn_file_actions_t* actions,
                                     const posix_spawnattr_t* attributes, char* const argv[],
                                     char* const envp[]) {
  const auto function = next(&posix_spawnp, "posix_spawnp");
  return mneme::preloaded::withInherited(envp, [&](char* const* environment) {
    return function ? function(child, file, actions, attributes, argv, environment) : ENOSYS;
  });
}

// These start their shell through internal functions of libc, which cannot be interposed.
MNEME_PRELOADED_API int system(const char* command) {
  const auto function = next(&system, "system");
  if (command)
    mneme::preloaded::adjustOwnEnvironment();
  if (function)
    return function(command);
  errno = ENOSYS;
  return -1;
}

MNEME_PRELOADED_API FILE* popen(const char* command, const char* mode) {
  const auto function = next(&popen, "popen");
  mneme::preloaded::adjustOwnEnvironment();
  if (function)
    return function(command, mode);
  errno = ENOSYS;
  return nullptr;
}
