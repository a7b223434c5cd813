// How programs of the JIT interface end where they cannot go on.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
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

/// What is wrong with a module that is made at run time. A program that does not catch it ends as
/// with reportFatalError().
class __attribute__((visibility("default"))) FatalError : public std::runtime_error {
public:
  explicit FatalError(const std::string& Reason, const char* File = __builtin_FILE(),
                      unsigned Line = __builtin_LINE())
      : std::runtime_error("[proteus][FATAL ERROR] " + std::string(File) + ":" +
                           std::to_string(Line) + " => " + Reason) {}
};

} // namespace proteus
