// Room jit: the one thing that ends a program.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "runtime/jit/settings.h"

namespace mneme::jit {

/// As the reference tool does where a program with marks is given nonsense.
inline void refuseNonsense(const Settings& settings) {
  if (settings.nonsense.empty())
    return;
  fprintf(stderr, "[proteus][FATAL ERROR] mneme:%d => %s\n", __LINE__, settings.nonsense.c_str());
  std::abort();
}

} // namespace mneme::jit
