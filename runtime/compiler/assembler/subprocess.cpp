#include "runtime/compiler/assembler/subprocess.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <span>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/core/base/environment.h"
#include "runtime/core/base/error.h"
#include "runtime/core/base/file.h"

extern char** environ;

namespace mneme::compile {
namespace {

constexpr size_t kMaxMessageBytes = size_t{1} << 20;
constexpr int kPollMilliseconds = 50;
// The program's own descriptors are 0 to 4; ours must not be among them while they are put in
// place.
constexpr int kLowestDescriptor = 10;

UniqueFd outOfTheWay(int descriptor) {
  const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (copy < 0)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot prepare to start a program", errno));
  return UniqueFd(copy);
}

class Actions {
public:
  Actions() { posix_spawn_file_actions_init(&actions_); }
  ~Actions() { posix_spawn_file_actions_destroy(&actions_); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  void put(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void openNull(int at) {
    posix_spawn_file_actions_addopen(&actions_, at, "/dev/null", O_RDONLY, 0);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
  posix_spawn_file_actions_t actions_;
};

/// A fresh program must not inherit which signals this thread blocks or this process ignores.
class Attributes {
public:
  explicit Attributes(ProgramGroup group) {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    sigset_t usual;
    sigemptyset(&usual);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD, SIGABRT, SIGSEGV, SIGQUIT, SIGHUP})
      sigaddset(&usual, signal);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (group == ProgramGroup::Own) {
      posix_spawnattr_setpgroup(&attributes_, 0);
      flags |= POSIX_SPAWN_SETPGROUP;
    }
    posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

private:
  posix_spawnattr_t attributes_;
};

/// What comes through the pipe until the child's end; false when time runs out first. The end of
/// the pipe may come later: a process forked elsewhere in this one holds a copy of it for a while.
bool readMessages(int in, pid_t child, double timeoutSeconds, std::string& messages) {
  const auto start = std::chrono::steady_clock::now();
  char buffer[16384];
  bool isOver = false;
  for (;;) {
    pollfd waited = {in, POLLIN, 0};
    if (poll(&waited, 1, isOver ? 0 : kPollMilliseconds) > 0) {
      const ssize_t count = read(in, buffer, sizeof buffer);
      if (count == 0 || (count < 0 && errno != EINTR))
        return true;
      if (count > 0 && messages.size() < kMaxMessageBytes)
        messages.append(buffer, static_cast<size_t>(count));
    } else if (isOver) {
      return true;
    } else {
      isOver = hasEnded(child);
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (timeoutSeconds > 0 && passed.count() > timeoutSeconds)
      return isOver;
  }
}

} // namespace

UniqueFd memoryFile(const char* name) {
  UniqueFd file(memfd_create(name, MFD_CLOEXEC));
  if (!file)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot make a memory file", errno));
  return file;
}

std::string contentOf(const UniqueFd& file) {
  struct stat status = {};
  if (fstat(file.get(), &status) != 0 || status.st_size <= 0)
    return {};
  std::string content(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t count =
        pread(file.get(), content.data() + done, content.size() - done, static_cast<off_t>(done));
    if (count <= 0 && errno != EINTR)
      throw Error(ErrorCode::IoFailed, systemMessage("cannot read a program's output", errno));
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return content;
}

/// Leaves the caller's environment out where the caller has fewer rights than this process.
std::vector<char*> environmentWithoutPreload() {
  std::vector<char*> kept;
  for (char** entry = isPrivileged() ? nullptr : environ; entry && *entry; ++entry)
    if (strncmp(*entry, "LD_PRELOAD=", 11) != 0)
      kept.push_back(*entry);
  kept.push_back(nullptr);
  return kept;
}

pid_t startProgram(const std::string& path, const std::vector<std::string>& arguments,
                   const std::vector<int>& descriptors, ProgramGroup group) {
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  Actions actions;
  actions.openNull(0);
  std::vector<UniqueFd> copies;
  for (const int descriptor : descriptors) {
    copies.push_back(outOfTheWay(descriptor));
    actions.put(copies.back().get(), static_cast<int>(copies.size()));
  }
  const Attributes attributes(group);
  std::vector<char*> environment = environmentWithoutPreload();
  pid_t child = -1;
  const int status = posix_spawn(&child, path.c_str(), actions.get(), attributes.get(), argv.data(),
                                 environment.data());
  if (status != 0)
    throw Error(ErrorCode::BackendUnavailable,
                systemMessage("cannot start '" + path + "'", status));
  return child;
}

bool hasEnded(pid_t program) {
  siginfo_t info = {};
  const int status = waitid(P_PID, static_cast<id_t>(program), &info, WEXITED | WNOHANG | WNOWAIT);
  return status != 0 || info.si_pid == program;
}

int exitCodeOf(pid_t program) {
  int status = 0;
  while (waitpid(program, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

ProgramResult runProgram(const std::string& path, const std::vector<std::string>& arguments,
                         const std::string& input, double timeoutSeconds, Prints prints) {
  const UniqueFd in = memoryFile("mneme-input");
  const UniqueFd out = memoryFile("mneme-output");
  writeAll(in.get(), std::as_bytes(std::span(input.data(), input.size())), "memory file");
  lseek(in.get(), 0, SEEK_SET);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Error(ErrorCode::IoFailed, systemMessage("cannot make a pipe", errno));
  const UniqueFd listening(ends[0]);
  UniqueFd talking(ends[1]);
  const int printed = prints == Prints::Output ? out.get() : talking.get();
  const pid_t child = startProgram(path, arguments, {printed, talking.get(), in.get(), out.get()},
                                   ProgramGroup::Ours);
  talking = UniqueFd();
  ProgramResult result;
  result.isTimedOut = !readMessages(listening.get(), child, timeoutSeconds, result.messages);
  if (result.isTimedOut)
    kill(child, SIGKILL);
  result.exitCode = exitCodeOf(child);
  result.output = contentOf(out);
  return result;
}

} // namespace mneme::compile
