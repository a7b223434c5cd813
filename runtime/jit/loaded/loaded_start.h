// Room jit/loaded: the engine of this process.
#pragma once

#include "runtime/jit/loaded/loaded_engine.h"

namespace mneme::jit {

/// Reads the file of tuned kernels at the first call. Returns null if nothing is tuned here.
LoadedEngine* loadedEngine() noexcept;
/// The same, but null before the first call.
LoadedEngine* startedEngine() noexcept;

} // namespace mneme::jit
