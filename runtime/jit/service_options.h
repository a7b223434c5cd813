// Room jit: what the compiler's service is told of Settings.
#pragma once

#include "runtime/compile/service/service.h"
#include "runtime/jit/settings.h"

namespace mneme::jit {

/// Completes settings that an engine starts with: paths, and what only MPI knows. For a program
/// with marks the cache directory is made; it ends where its levels cannot be had.
void completeLevels(Settings& settings);

compile::ServiceOptions serviceOptions(const Settings& settings);

} // namespace mneme::jit
