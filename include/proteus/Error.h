// How programs of the JIT interface end where they cannot go on.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace proteus {

/// Writes one line to stderr and aborts.
[[noreturn]] inline void reportFatalError(const std::string& Reason,
                                          const char* File = __builtin_FILE(),
                                          unsigned Line = __builtin_LINE()) {
  std::fflush(stdout);
  std::fprintf(stderr, "[proteus][FATAL ERROR] %s:%u => %s\n", File, Line, Reason.c_str());
  std::abort();
}

} // namespace proteus
