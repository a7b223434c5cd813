#include "runtime/compiler/isolation.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <span>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

namespace mneme::compile {
namespace {

// Reading the largest kernels takes well under a second.
constexpr rlim_t kCpuSeconds = 10;
constexpr int kWallSeconds = 30;

/// What the child sends before its text.
struct Answer {
  int32_t code;
  uint64_t size;
};

void becomeExpendable() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGXCPU, SIGPIPE})
    ::signal(signal, SIG_DFL);
  const rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  const rlimit cpu = {kCpuSeconds, kCpuSeconds};
  setrlimit(RLIMIT_CPU, &cpu);
}

[[noreturn]] void runChild(const std::function<std::string()>& work, int out) {
  becomeExpendable();
  Answer answer = {static_cast<int32_t>(ErrorCode::Ok), 0};
  std::string text;
  try {
    text = work();
  } catch (const Error& error) {
    answer.code = static_cast<int32_t>(error.code());
    text = error.what();
  } catch (const std::exception& error) {
    answer.code = static_cast<int32_t>(ErrorCode::Internal);
    text = error.what();
  }
  answer.size = text.size();
  try {
    writeAll(out, std::as_bytes(std::span(&answer, 1)), "pipe");
    writeAll(out, std::as_bytes(std::span(text.data(), text.size())), "pipe");
  } catch (const Error&) {
    _exit(1);
  }
  _exit(0);
}

/// Everything up to the end of the pipe; false when time runs out first.
bool readUntilEnd(int in, std::string& content) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(kWallSeconds);
  char buffer[65536];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return false;
    pollfd waited = {in, POLLIN, 0};
    if (poll(&waited, 1, static_cast<int>(left.count())) <= 0)
      continue;
    const ssize_t count = read(in, buffer, sizeof buffer);
    if (count > 0)
      content.append(buffer, static_cast<size_t>(count));
    else if (count == 0 || errno != EINTR)
      return true;
  }
}

void reap(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

} // namespace

std::string runIsolated(const std::function<std::string()>& work, const std::string& what) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot make a pipe", errno));
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  const pid_t child = fork();
  if (child < 0)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot start a process to read IR", errno));
  if (child == 0)
    runChild(work, out.get());
  out = UniqueFd();
  std::string content;
  const bool isFinished = readUntilEnd(in.get(), content);
  kill(child, SIGKILL); // without effect on a child that has ended
  reap(child);

  Answer answer;
  const bool isWhole = content.size() >= sizeof answer;
  if (isWhole)
    memcpy(&answer, content.data(), sizeof answer);
  if (!isFinished || !isWhole || content.size() - sizeof answer != answer.size)
    throw Error(ErrorCode::ArtifactCorrupt,
                what + (isFinished ? " is damaged: reading it crashes LLVM"
                                   : " is damaged: reading it keeps LLVM busy without end"));
  content.erase(0, sizeof answer);
  if (answer.code != static_cast<int32_t>(ErrorCode::Ok))
    throw Error(static_cast<ErrorCode>(answer.code), content);
  return content;
}

} // namespace mneme::compile
