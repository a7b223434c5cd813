#include "tests/unit/conformance/support.h"

#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace conformance;

extern char** environ;

namespace {

struct Outcome {
  int exitCode = -1; ///< -1: killed by a signal, or by us after a minute
  int error = -1;    ///< number of the error code
  int isUsable = -1;
  int isWorking = -1;
  std::string text; ///< everything it printed
};

std::string readUntilEnd(int descriptor, int timeoutMs) {
  std::string text;
  char buffer[4096];
  pollfd poll{descriptor, POLLIN, 0};
  while (::poll(&poll, 1, timeoutMs) > 0) {
    const ssize_t got = read(descriptor, buffer, sizeof buffer);
    if (got <= 0)
      return text;
    text.append(buffer, static_cast<size_t>(got));
  }
  return text + " [no end after " + std::to_string(timeoutMs / 1000) + " s]";
}

Outcome fault(const std::string& name) {
  int pipe[2];
  REQUIRE(pipe2(pipe, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  std::string device = theDevice().description().id, program = "/proc/self/exe", flag = "--fault",
              fault = name;
  char* argv[] = {program.data(), flag.data(), fault.data(), device.data(), nullptr};
  pid_t child = -1;
  REQUIRE(posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);
  Outcome outcome;
  outcome.text = readUntilEnd(pipe[0], 60'000);
  close(pipe[0]);
  if (outcome.text.ends_with(" s]"))
    kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  // The line stands last; what kernels print comes before it.
  const size_t last = outcome.text.find_last_not_of('\n');
  const size_t begin = outcome.text.rfind('\n', last) + 1;
  std::sscanf(outcome.text.c_str() + (last == std::string::npos ? 0 : begin), "%d %d %d",
              &outcome.error, &outcome.isUsable, &outcome.isWorking);
  return outcome;
}

Outcome checkFault(const std::string& name) {
  const Outcome outcome = fault(name);
  INFO(outcome.text);
  CHECK(outcome.exitCode == 0);
  CHECK(outcome.error == static_cast<int>(ErrorCode::DeviceFailed));
  // A device that calls itself usable has to work.
  CHECK(outcome.isUsable == outcome.isWorking);
  return outcome;
}

} // namespace

TEST_CASE("illegal addresses fail the launch, not the process") {
  checkFault("null");
  checkFault("behind");
  checkFault("host");
}

TEST_CASE("traps and assertions fail the launch") {
  checkFault("trap");
  checkFault("assert");
}

TEST_CASE("a kernel that never ends fails after its time, and the process ends") {
  checkFault("hang");
}

TEST_CASE("faults of another process leave this one alone") {
  checkFault("null");
  Memory out(4096);
  Kernel("warp").launch(shapeOf(1, 32), kPatience, out.address());
  CHECK(out.read<uint32_t>(1)[0] == 10);
}
