// Room jit: engines tell modules that are made at run time that they begin.
#pragma once

#include <dlfcn.h>

#include "runtime/abi/mneme_frontend.h"

namespace mneme::jit {

/// Once what an engine says at the end is registered. Most programs make no modules.
inline void tellModules(bool isForGpu) {
  using Tell = decltype(&mneme_frontend_engine_begins);
  if (const auto tell = reinterpret_cast<Tell>(dlsym(RTLD_DEFAULT, MNEME_FRONTEND_ENGINE_BEGINS)))
    tell(isForGpu);
}

} // namespace mneme::jit
