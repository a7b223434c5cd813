// Room preloaded: what a program inherits of the libraries of ours that LD_PRELOAD names, where it
// cannot load them: in another root directory, or as another user. The loader would say so at each
// program that starts there. Nothing here may allocate, lock or throw but adjustOwnEnvironment().
#pragma once

#include <stddef.h>

namespace mneme::preloaded {

/// Bytes of memory that withoutUnreachable() needs for this environment; 0 if every library of ours
/// that its LD_PRELOAD names can be read here, or if it names none. Libraries of others count as
/// readable: what the loader says about those it says without us, too. May be called in a signal
/// handler, and in a child of vfork().
/// \param environment  as of execve(); null is empty
size_t bytesWithoutUnreachable(char* const* environment) noexcept;

/// The environment without those libraries of ours, in `memory`; it points into `environment`.
/// LD_PRELOAD is left out where nothing else is in it.
char* const* withoutUnreachable(char* const* environment, void* memory, size_t bytes) noexcept;

/// Calls `start` with an environment for a program that is started in this root directory.
template <typename Start> auto withInherited(char* const* environment, Start&& start) {
  const size_t bytes = bytesWithoutUnreachable(environment);
  if (bytes == 0)
    return start(environment);
  // On the stack: where this is called, nobody would free it.
  return start(withoutUnreachable(environment, __builtin_alloca(bytes), bytes));
}

/// Does the same to LD_PRELOAD of this process, for functions of libc that start programs with it,
/// and undoes it where all can be read again. Not for signal handlers.
void adjustOwnEnvironment() noexcept;

} // namespace mneme::preloaded
