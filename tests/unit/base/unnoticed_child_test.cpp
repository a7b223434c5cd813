#include "runtime/core/base/unnoticed_child.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

using namespace mneme;

namespace {

int runTrue() {
  pid_t child = -1;
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  if (posix_spawnp(&child, "true", nullptr, nullptr, arguments, nullptr) != 0)
    return -1;
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -2;
}

/// SIGCHLD is blocked while it lives; whether one has come.
class Watched {
public:
  Watched() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals_, &before_);
  }
  ~Watched() {
    const timespec none = {};
    sigtimedwait(&signals_, nullptr, &none);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  bool hasCome() const {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGCHLD) == 1;
  }

private:
  sigset_t signals_, before_;
};

} // namespace

TEST_CASE("a program that is started unnoticed sends no signal and leaves nobody to wait for") {
  const Watched watched;
  int status = -1;
  runUnnoticed([&] { status = runTrue(); });
  CHECK(status == 0);
  CHECK(!watched.hasCome());
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  // What the signal would be.
  CHECK(runTrue() == 0);
  CHECK(watched.hasCome());
}

TEST_CASE("an application that ignores its children costs no exit code") {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  int status = -1;
  runUnnoticed([&] { status = runTrue(); });
  std::signal(SIGCHLD, before);
  CHECK(status == 0);
}

TEST_CASE("what unnoticed work throws comes back") {
  CHECK_THROWS_WITH_AS(runUnnoticed([] { throw std::runtime_error("no"); }), "no",
                       std::runtime_error);
}

TEST_CASE("unnoticed work is another process with this one's memory") {
  pid_t other = getpid();
  runUnnoticed([&] { other = getpid(); });
  CHECK(other != getpid());
}
