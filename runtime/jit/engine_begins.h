// Room jit: engines announce their start to modules that are made at run time.
#pragma once

#include <dlfcn.h>

#include "runtime/core/abi/mneme_frontend.h"

namespace mneme::jit {

/// Call it once the engine's report at exit is registered. Does nothing in programs that make no
/// modules.
inline void tellModules(bool isForGpu) {
  using Tell = decltype(&mneme_frontend_engine_begins);
  if (const auto tell = reinterpret_cast<Tell>(dlsym(RTLD_DEFAULT, MNEME_FRONTEND_ENGINE_BEGINS)))
    tell(isForGpu);
}

} // namespace mneme::jit
