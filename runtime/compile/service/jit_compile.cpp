// The program mneme-jit-compile: one compilation for a process that does not want LLVM inside.
// Started by compile/service.h only. Reads the request at kProgramInput, writes the answer to
// kProgramOutput.
//
//   mneme-jit-compile <pid of who waits> <libmneme_compile.so> <assembler> <its path>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/base/file.h"
#include "runtime/compile/assembler/subprocess.h"
#include "runtime/compile/service/messages.h"

using namespace mneme;

namespace {

constexpr int kOutput = 4; // kProgramOutput

/// Ends with whoever waits for the answer, leaves no core file in its directory, and holds nothing
/// open that it did not mark for closing.
void detachFrom(pid_t waiting) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != waiting)
    _exit(EXIT_FAILURE);
  const rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
#ifdef SYS_close_range
  syscall(SYS_close_range, kOutput + 1, ~0u, 0u);
#endif
}

void useTools(const char* library, const std::string& assembler, const char* path) {
  setenv("MNEME_COMPILE_LIBRARY", library, 1);
  if (assembler == "none")
    return;
  setenv("MNEME_ASSEMBLER", assembler.c_str(), 1);
  if (assembler == "ptxas")
    setenv("MNEME_PTXAS", path, 1);
  else if (assembler == "nvjitlink")
    setenv("MNEME_NVJITLINK", path, 1);
}

compile::Answer answerTo(const std::vector<std::byte>& bytes) {
  compile::Answer answer;
  try {
    const std::optional<compile::Request> request = compile::unpackRequest(bytes);
    if (!request)
      throw Error(ErrorCode::InvalidArgument,
                  "mneme-jit-compile got a request that is damaged or of another version of mneme");
    answer.result = compile::compile(*request);
  } catch (const Error& error) {
    answer.code = error.code();
    answer.message = error.what();
  } catch (const std::bad_alloc&) {
    answer.code = ErrorCode::OutOfMemory;
    answer.message = "the kernel compiler has not enough memory";
  } catch (const std::exception& error) {
    answer.code = ErrorCode::Internal;
    answer.message = error.what();
  }
  return answer;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    fputs("mneme-jit-compile compiles tuned kernels for programs that use mneme; they start it "
          "themselves\n",
          stderr);
    return EXIT_FAILURE;
  }
  detachFrom(static_cast<pid_t>(atol(arguments[1])));
  useTools(arguments[2], arguments[3], arguments[4]);
  try {
    const std::string answer = compile::packAnswer(answerTo(readFile(compile::kProgramInput)));
    writeAll(kOutput, std::as_bytes(std::span(answer.data(), answer.size())), "the answer");
  } catch (const std::exception& error) {
    fprintf(stderr, "mneme-jit-compile: %s\n", error.what());
    return EXIT_FAILURE;
  }
  // LLVM's own clean-up takes longer than the kernel may have to wait.
  fflush(nullptr);
  _exit(EXIT_SUCCESS);
}
