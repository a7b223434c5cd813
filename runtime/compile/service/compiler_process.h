// Room compile: the process that compiles for this program. Holds no LLVM.
//
// It is started at the first need and kept, with LLVM loaded, for the next ones; with several at a
// time there are several. It listens on a nameless socket of the machine (an abstract address), so
// that this program holds no thread and no descriptor for it: children of fork() and programs that
// are started from here have nothing of it. It is nobody's child, so it ends with its first answer
// where this program itself is the one that orphans come to; else with this program, when nobody
// has asked for a minute, and after enough work (jit_compile.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/compile/service/messages.h"

namespace mneme::compile {

struct CompilerCommand {
  std::string program;
  std::vector<std::string> arguments;
  /// Whatever else two requests must have in common to be answered by one process. The environment,
  /// the working directory and the user are compared in any case.
  std::string identity;
};

/// What became of a request.
struct Reply {
  std::optional<Answer> answer; ///< nothing: the process died or took too long
  bool isTimedOut = false;
  int exitCode = -1;       ///< 128 + signal; -1 if it is not known
  std::string messages;    ///< what a process that died has written to stdout and stderr
  double startSeconds = 0; ///< until a new process had loaded LLVM and took the request
};

/// Asks a process kept from an earlier request, else a new one. When a kept one dies a new one is
/// asked too, and `diedOnce` is set. Ends a process that takes longer than `timeoutSeconds` (0: no
/// limit), with what it has started. Nothing of all this is noticed by the application's wait() or
/// handlers of SIGCHLD. Thread-safe.
/// \throws Error if no process can be started.
Reply askCompiler(const CompilerCommand& command, const std::string& request, double timeoutSeconds,
                  bool& diedOnce);

} // namespace mneme::compile
