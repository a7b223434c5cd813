// Room compiler: runs a program to its end, without a shell and without files.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "runtime/core/base/unique_fd.h"

namespace mneme::compile {

struct ProgramResult {
  int exitCode = -1; ///< 128 + signal if a signal ended the program; -1 if unknown
  bool isTimedOut = false;
  std::string messages; ///< what it wrote to stdout and stderr, at most 1 MiB
  std::string output;   ///< its output in kProgramOutput, or on stdout with Prints::Output
};

/// Paths from which the program reads `input` and to which it writes its output.
inline constexpr const char* kProgramInput = "/proc/self/fd/3";
inline constexpr const char* kProgramOutput = "/proc/self/fd/4";

/// The meaning of a program's stdout: messages, or its output.
enum class Prints { Messages, Output };

/// Runs `path` with `arguments` (without the program's name) to its end. Killed after
/// `timeoutSeconds` (0: never).
/// \throws as startProgram(), and Error{IoFailed} without memory files.
ProgramResult runProgram(const std::string& path, const std::vector<std::string>& arguments,
                         const std::string& input, double timeoutSeconds,
                         Prints prints = Prints::Messages);

enum class ProgramGroup {
  Ours, ///< the terminal's Ctrl-C reaches it
  Own,  ///< Ctrl-C does not reach it; programs it starts can be killed with it
};

/// Starts `path` without LD_PRELOAD, so that tools preloaded into this process are not. It gets
/// /dev/null and `descriptors`, with the numbers from 1 on.
/// \throws Error{BackendUnavailable} if it cannot be started.
pid_t startProgram(const std::string& path, const std::vector<std::string>& arguments,
                   const std::vector<int>& descriptors, ProgramGroup group);
/// Whether a program that this process has started has ended; does not reap it.
bool hasEnded(pid_t program);
/// Waits for the end and returns the exit code; -1 if something else in this process has reaped it.
int exitCodeOf(pid_t program);

/// Makes a file without a name, which child processes inherit. \throws Error{IoFailed}
UniqueFd memoryFile(const char* name);
/// Returns the whole content of a file. \throws Error{IoFailed}
std::string contentOf(const UniqueFd& file);

/// Returns the environment for programs started from here.
std::vector<char*> environmentWithoutPreload();

} // namespace mneme::compile
