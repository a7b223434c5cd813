// Room jit: turns Settings into options of the compiler's service.
#pragma once

#include "runtime/compiler/service/service.h"
#include "runtime/jit/jit_settings.h"

namespace mneme::jit {

/// Completes the settings that an engine starts with: paths, and what only MPI knows. Makes the
/// cache directory for a program with marks, and ends the program if its cache levels are
/// unavailable.
void completeLevels(Settings& settings);

compile::ServiceOptions serviceOptions(const Settings& settings);

} // namespace mneme::jit
