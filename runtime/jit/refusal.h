// Room jit: the one thing that ends a program.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "runtime/jit/settings.h"

namespace mneme::jit {

/// As the reference tool does where a program with marks is given nonsense.
inline void refuseUnknownToken(const Settings& settings) {
  if (settings.unknownToken.empty())
    return;
  fprintf(stderr, "[proteus][FATAL ERROR] mneme:%d => Unknown PROTEUS_TRACE_OUTPUT token: %s\n",
          __LINE__, settings.unknownToken.c_str());
  std::abort();
}

} // namespace mneme::jit
