// The program mneme-jit-compile: compilations for a process that does not want LLVM inside. Started
// by compiler/service/compiler_process.h only, which connects to the socket that this inherits,
// sends a request, reads the answer and may come again.
//
//   mneme-jit-compile <pid of the program> <libmneme_compile.so> <assembler> <its path>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/compiler/service/messages.h"
#include "runtime/compiler/service/mlir.h"
#include "runtime/compiler/service/source.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

using namespace mneme;

namespace {

constexpr int kListener = 3;

/// Programs compile when they begin: later ones need the memory.
constexpr int kIdleMilliseconds = 60000;
/// Without a descriptor of the program it is looked for that often.
constexpr int kLookMilliseconds = 1000;
/// LLVM's memory becomes fragmented; a new process costs some milliseconds.
constexpr unsigned kMostRequests = 500;
constexpr size_t kMostBytes = size_t{1} << 30;

/// Leaves no core file in the program's directory, and holds nothing open that it did not mark for
/// closing.
void settle() {
  const rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
#ifdef SYS_close_range
  syscall(SYS_close_range, kListener + 1, ~0u, 0u);
#endif
}

/// Becomes readable when the process ends; none where the kernel has no such descriptors.
UniqueFd watchOf([[maybe_unused]] pid_t process) {
#ifdef SYS_pidfd_open
  return UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
#else
  return {};
#endif
}

/// Ends this process and what it has started when the other side hangs up.
class HangUpWatch {
public:
  explicit HangUpWatch(int connection)
      : stop_(makeEvent()), thread_([connection, stop = stop_.get()] {
          pollfd watched[] = {{connection, 0, 0}, {stop, POLLIN, 0}};
          while (poll(watched, 2, -1) < 0)
            continue;
          if (watched[0].revents != 0)
            kill(0, SIGKILL);
        }) {}
  ~HangUpWatch() {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  HangUpWatch(const HangUpWatch&) = delete;
  HangUpWatch& operator=(const HangUpWatch&) = delete;

private:
  static UniqueFd makeEvent() {
    UniqueFd event(eventfd(0, EFD_CLOEXEC));
    if (!event)
      throw Error(ErrorCode::IoFailed, systemMessage("cannot make an event", errno));
    return event;
  }

  UniqueFd stop_;
  std::thread thread_;
};

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

/// While the request is on its way. What fails fails again, and is the answer then.
void loadCompiler() {
  try {
    compile::versionJson();
  } catch (const Error&) {
  }
}

/// What is written to stderr from here on, where that is a file.
class ErrorOutput {
public:
  ErrorOutput() : begin_(end()) {}

  std::string text() const {
    std::string text(static_cast<size_t>(std::max<off_t>(0, end() - begin_)), '\0');
    const ssize_t count = pread(STDERR_FILENO, text.data(), text.size(), begin_);
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, count)));
    return text;
  }

private:
  static off_t end() {
    fflush(stderr);
    struct stat facts = {};
    const bool isFile = fstat(STDERR_FILENO, &facts) == 0 && S_ISREG(facts.st_mode);
    return isFile ? facts.st_size : 0;
  }

  off_t begin_;
};

compile::Answer answerTo(const std::vector<std::byte>& bytes) {
  compile::Answer answer;
  try {
    const std::optional<compile::Request> request = compile::unpackRequest(bytes);
    if (!request)
      throw Error(ErrorCode::InvalidArgument,
                  "mneme-jit-compile got a request that is damaged or of another version of mneme");
    if (!request->mlir.pipelines.empty())
      answer.result = compile::compileMlir(*request);
    else if (!request->sourceCompiler.empty())
      answer.result = compile::compileSource(*request);
    else {
      const ErrorOutput errors;
      answer.result = compile::compile(*request);
      if (!request->plugins.empty())
        answer.result.warnings = errors.text();
    }
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

std::vector<std::byte> readToEnd(int connection) {
  std::vector<std::byte> bytes;
  std::byte buffer[65536];
  for (ssize_t count = 0; (count = read(connection, buffer, sizeof buffer)) > 0;)
    bytes.insert(bytes.end(), buffer, buffer + count);
  return bytes;
}

size_t residentBytes() {
  size_t total = 0, resident = 0;
  if (FILE* file = fopen("/proc/self/statm", "re")) {
    if (fscanf(file, "%zu %zu", &total, &resident) != 2)
      resident = 0;
    fclose(file);
  }
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

/// Somebody who asks; none when there is no reason to wait for one any more.
UniqueFd nextConnection(pid_t program, int watch) {
  for (int idle = 0; idle < kIdleMilliseconds;) {
    pollfd watched[] = {{kListener, POLLIN, 0}, {watch, POLLIN, 0}};
    const int pause = watch >= 0 ? kIdleMilliseconds : kLookMilliseconds;
    const int count = poll(watched, 2, pause);
    if (count == 0)
      idle += pause;
    if (watched[1].revents != 0 || (watch < 0 && kill(program, 0) != 0))
      return {};
    if (watched[0].revents == 0)
      continue;
    UniqueFd connection(accept4(kListener, nullptr, nullptr, SOCK_CLOEXEC));
    ucred peer = {};
    socklen_t size = sizeof peer;
    if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        peer.uid == geteuid())
      return connection;
    if (!connection)
      return {};
  }
  return {};
}

/// False after an error: LLVM may be in disorder.
bool serve(int connection) {
  const HangUpWatch watch(connection);
  const std::byte taken{compile::kTaken};
  writeAll(connection, std::span(&taken, 1), "the answer");
  const compile::Answer answer = answerTo(readToEnd(connection));
  const std::string bytes = compile::packAnswer(answer);
  writeAll(connection, std::as_bytes(std::span(bytes.data(), bytes.size())), "the answer");
  return answer.code == ErrorCode::Ok;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 5) {
    fputs("mneme-jit-compile compiles kernels for programs that use mneme; they start it "
          "themselves\n",
          stderr);
    return EXIT_FAILURE;
  }
  settle();
  useTools(arguments[2], arguments[3], arguments[4]);
  try {
    const auto program = static_cast<pid_t>(atol(arguments[1]));
    const UniqueFd watch = watchOf(program);
    loadCompiler();
    for (unsigned served = 0; served < kMostRequests && residentBytes() < kMostBytes; ++served) {
      const UniqueFd connection = nextConnection(program, watch.get());
      if (!connection || !serve(connection.get()))
        break;
    }
  } catch (const std::exception& error) {
    fprintf(stderr, "mneme-jit-compile: %s\n", error.what());
  }
  // LLVM's own clean-up takes longer than the kernel may have to wait.
  fflush(nullptr);
  _exit(EXIT_SUCCESS);
}
