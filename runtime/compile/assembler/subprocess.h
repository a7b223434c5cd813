// Room compile: a program run to its end, without a shell and without files.
#pragma once

#include <string>
#include <vector>

namespace mneme::compile {

struct ProgramResult {
  int exitCode = -1; ///< 128 + signal for a program a signal ended; -1 if it is not known
  bool isTimedOut = false;
  std::string messages; ///< what it wrote to stdout and stderr, at most 1 MiB
  std::string output;   ///< what it wrote to kProgramOutput
};

/// Where the program reads `input` and writes its output.
inline constexpr const char* kProgramInput = "/proc/self/fd/3";
inline constexpr const char* kProgramOutput = "/proc/self/fd/4";

enum class ProgramGroup {
  Ours, ///< the terminal's Ctrl-C reaches it
  Own,  ///< it does not; what the program started is killed with it when time runs out
};

/// Runs `path` with `arguments` (without the program's name) and no LD_PRELOAD: what watches this
/// process stays out of it. Killed after `timeoutSeconds` (0: never).
/// \throws Error{BackendUnavailable} if it cannot be started, Error{IoFailed} without memory files.
ProgramResult runProgram(const std::string& path, const std::vector<std::string>& arguments,
                         const std::string& input, double timeoutSeconds,
                         ProgramGroup group = ProgramGroup::Ours);

} // namespace mneme::compile
