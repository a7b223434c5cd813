// Room jit: caches that the ranks of an MPI job share. MPI itself is in a component, since each
// family of it has its own ABI; without the component programs that ask for it end.
#pragma once

#include "runtime/compile/service/levels.h"
#include "runtime/jit/settings.h"

namespace mneme::jit {

bool isOfJob(CacheLevel::Kind kind) noexcept;

/// Starts the component, once per process, if a level needs it, and fills in Settings::jobRank.
/// Ends the program if it cannot be. The cache directory has to be absolute.
void startJobCache(Settings& settings);

/// After that.
compile::SharedEntries& jobCache(CacheLevel::Kind kind);

} // namespace mneme::jit
