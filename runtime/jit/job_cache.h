// Room jit: caches that the ranks of an MPI job share. MPI itself is used by a component, one per
// ABI of MPI. A program that asks for such a cache ends if the component is missing.
#pragma once

#include "runtime/compiler/service/levels.h"
#include "runtime/jit/jit_settings.h"

namespace mneme::jit {

bool isOfJob(CacheLevel::Kind kind) noexcept;

/// Starts the component, once per process, if a level needs it, and fills in Settings::jobRank.
/// Ends the program on failure. The path of the cache directory must be absolute.
void startJobCache(Settings& settings);

/// Call it only after startJobCache().
compile::SharedEntries& jobCache(CacheLevel::Kind kind);

} // namespace mneme::jit
