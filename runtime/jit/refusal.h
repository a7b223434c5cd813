// Room jit: the one thing that ends a program.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "runtime/jit/settings.h"

namespace mneme::jit {

/// As the reference tool does where a program with marks is given nonsense.
[[noreturn]] inline void refuse(const char* reason) {
  fprintf(stderr, "[proteus][FATAL ERROR] mneme:%d => %s\n", __LINE__, reason);
  std::abort();
}

inline void refuseNonsense(const Settings& settings) {
  if (!settings.nonsense.empty())
    refuse(settings.nonsense.c_str());
}

} // namespace mneme::jit
