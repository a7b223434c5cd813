// Room compile: a program run to its end, without a shell and without files.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "runtime/base/unique_fd.h"

namespace mneme::compile {

struct ProgramResult {
  int exitCode = -1; ///< 128 + signal for a program a signal ended; -1 if it is not known
  bool isTimedOut = false;
  std::string messages; ///< what it wrote to stdout and stderr, at most 1 MiB
  std::string output;   ///< what it wrote to kProgramOutput; or to stdout, with Prints::Output
};

/// Where the program reads `input` and writes its output.
inline constexpr const char* kProgramInput = "/proc/self/fd/3";
inline constexpr const char* kProgramOutput = "/proc/self/fd/4";

/// What a program's stdout is: some of its messages, or its output.
enum class Prints { Messages, Output };

/// Runs `path` with `arguments` (without the program's name) to its end. Killed after
/// `timeoutSeconds` (0: never).
/// \throws as startProgram(), and Error{IoFailed} without memory files.
ProgramResult runProgram(const std::string& path, const std::vector<std::string>& arguments,
                         const std::string& input, double timeoutSeconds,
                         Prints prints = Prints::Messages);

enum class ProgramGroup {
  Ours, ///< the terminal's Ctrl-C reaches it
  Own,  ///< it does not; what it starts can be killed with it
};

/// Starts `path` with no LD_PRELOAD: what watches this process stays out of it. It has /dev/null
/// and `descriptors`, under the numbers from 1 on.
/// \throws Error{BackendUnavailable} if it cannot be started.
pid_t startProgram(const std::string& path, const std::vector<std::string>& arguments,
                   const std::vector<int>& descriptors, ProgramGroup group);
/// Whether a program that this process has started is over; it is not waited for.
bool hasEnded(pid_t program);
/// Waits for the end. -1 when something else in this process has waited for it.
int exitCodeOf(pid_t program);

/// Nameless, open for whoever inherits it. \throws Error{IoFailed}
UniqueFd memoryFile(const char* name);
/// All that is in a file. \throws Error{IoFailed}
std::string contentOf(const UniqueFd& file);

/// What a program started from here has in its environment.
std::vector<char*> environmentWithoutPreload();

} // namespace mneme::compile
