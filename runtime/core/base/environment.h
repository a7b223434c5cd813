// Room core/base: environment variables, which the process's caller controls. Our code reads them
// only through this header (tests/python/test_architecture.py). libmneme_rt uses it, too, so it
// needs no C++ library.
#pragma once

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

namespace mneme {

/// Whether this program has more rights than the process that started it, by set-user-id,
/// set-group-id or file capabilities. Then nothing that the caller can choose (variables, the
/// current directory, files named by either) may decide what is loaded, run, read or written here.
inline bool isPrivileged() noexcept { return getauxval(AT_SECURE) != 0; }

/// A copy of the process's initial environment. Never freed: destructors may still read it while
/// the program ends.
struct KeptEnvironment {
  const char* const* variables = nullptr; ///< as `environ`; null: not kept
  const char* directory = nullptr;        ///< the working directory; null: not kept, or unknown
};
/// Each separately loaded library has its own copy.
inline KeptEnvironment keptEnvironment;

/// Makes the copy, because the program may clear or change its environment, or change its
/// directory. Call it while the library is loaded, before any other thread can read variables.
inline void keepEnvironment() noexcept {
  size_t count = 0, bytes = 0;
  for (; environ && environ[count]; ++count)
    bytes += strlen(environ[count]) + 1;
  auto** variables = static_cast<char**>(malloc((count + 1) * sizeof(char*)));
  auto* text = static_cast<char*>(malloc(bytes + 1));
  if (!variables || !text)
    return;
  for (size_t index = 0; index < count; ++index) {
    variables[index] = text;
    text = stpcpy(text, environ[index]) + 1;
  }
  variables[count] = nullptr;
  char directory[PATH_MAX];
  keptEnvironment = {variables, getcwd(directory, sizeof(directory)) ? strdup(directory) : nullptr};
}

/// Returns the kept value of an environment variable. Null if it was not set, and for every
/// variable in a program that isPrivileged().
inline const char* keptValue(const char* name) noexcept {
  if (isPrivileged())
    return nullptr;
  const size_t length = strlen(name);
  for (const char* const* kept = keptEnvironment.variables; kept && *kept; ++kept)
    if (strncmp(*kept, name, length) == 0 && (*kept)[length] == '=')
      return *kept + length + 1;
  return nullptr;
}

/// Like keptValue(), but falls back to the present value, which the program may have set itself.
inline const char* environmentValue(const char* name) noexcept {
  const char* const kept = keptValue(name);
  return kept || isPrivileged() ? kept : getenv(name);
}

} // namespace mneme
