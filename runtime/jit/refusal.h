// Room jit: the only place that ends a program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/jit/jit_settings.h"

namespace mneme::jit {

/// Ends a program with marks on invalid settings, with the reference tool's message.
[[noreturn]] inline void refuse(const char* reason, const char* file = __builtin_FILE(),
                                int line = __builtin_LINE()) {
  const char* const slash = strrchr(file, '/');
  fprintf(stderr, "[proteus][FATAL ERROR] %s:%d => %s\n", slash ? slash + 1 : file, line, reason);
  std::abort();
}

inline void refuseNonsense(const Settings& settings) {
  if (!settings.nonsense.empty())
    refuse(settings.nonsense.c_str());
}

} // namespace mneme::jit
