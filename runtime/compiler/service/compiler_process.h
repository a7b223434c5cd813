// Room compiler: the process that compiles for this program. Needs no LLVM.
//
// It is started at the first request and kept, with LLVM loaded, for later ones. Concurrent
// requests get several processes. It listens on a nameless socket (an abstract address), so that
// this program needs no thread and no descriptor for it, and children of fork() and started
// programs inherit nothing. It is not a child of this program. It ends with this program, after a
// minute without requests, and after enough work (jit_compile.cpp); if this program itself adopts
// orphans, it ends after its first answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/compiler/service/messages.h"

namespace mneme::compile {

struct CompilerCommand {
  std::string program;
  std::vector<std::string> arguments;
  /// Further properties that two requests must share to be answered by one process. The
  /// environment, the working directory and the user are always compared.
  std::string identity;
};

/// The result of a request.
struct Reply {
  std::optional<Answer> answer; ///< nothing: the process died or took too long
  bool isTimedOut = false;
  int exitCode = -1;       ///< 128 + signal; -1 if unknown
  std::string messages;    ///< output of a process that died, on stdout and stderr
  double startSeconds = 0; ///< until a new process had loaded LLVM and took the request
};

/// Sends a request to a process kept from an earlier one, else to a new process. If a kept process
/// dies, a new one is asked, too, and `diedOnce` is set. Ends a process that takes longer than
/// `timeoutSeconds` (0: no limit), and all that it has started. The application's wait() and
/// handlers of SIGCHLD do not notice any of this. Thread-safe.
/// \throws Error if no process can be started.
Reply askCompiler(const CompilerCommand& command, const std::string& request, double timeoutSeconds,
                  bool& diedOnce);

} // namespace mneme::compile
