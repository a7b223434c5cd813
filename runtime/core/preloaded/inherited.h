// Room core/preloaded: removes our libraries from LD_PRELOAD for programs that cannot load them, in
// another root directory or as another user. The loader would print an error for each program that
// starts there. Only adjustOwnEnvironment() may allocate, lock or throw.
#pragma once

#include <stddef.h>

namespace mneme::preloaded {

/// Returns the bytes of memory that withoutUnreachable() needs for this environment; 0 if every
/// library of ours in its LD_PRELOAD can be read here, or if there is none. Other libraries count
/// as readable: the loader reports those without us, too. May be called in a signal handler, and in
/// a child of vfork().
/// \param environment as for execve(); null is empty
size_t bytesWithoutUnreachable(char* const* environment) noexcept;

/// Returns the environment without our unreadable libraries, in `memory`; it points into
/// `environment`. LD_PRELOAD is removed if nothing else is in it.
char* const* withoutUnreachable(char* const* environment, void* memory, size_t bytes) noexcept;

/// Calls `start` with an environment for a program that is started in this root directory.
template <typename Start> auto withInherited(char* const* environment, Start&& start) {
  const size_t bytes = bytesWithoutUnreachable(environment);
  if (bytes == 0)
    return start(environment);
  // On the stack, because it could never be freed.
  return start(withoutUnreachable(environment, __builtin_alloca(bytes), bytes));
}

/// Does the same to LD_PRELOAD of this process, for functions of libc that start programs with it,
/// and undoes it when all libraries can be read again. Not for signal handlers.
void adjustOwnEnvironment() noexcept;

} // namespace mneme::preloaded
