#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <set>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/compiler/service/service.h"
#include "stand_in.h"

using namespace mneme;
using namespace mneme::test;
using compile::compileApart;

namespace {

/// Each process it starts leaves a mark called by its id.
constexpr const char* kCounted = "touch $marks/$$; exec $real \"$@\"";

std::set<pid_t> processesOf(const StandIn& program) {
  std::set<pid_t> processes;
  for (const auto& mark : std::filesystem::directory_iterator(program.marks()))
    processes.insert(std::stoi(mark.path().filename()));
  return processes;
}

pid_t onlyProcessOf(const StandIn& program) {
  const std::set<pid_t> processes = processesOf(program);
  REQUIRE(processes.size() == 1);
  return *processes.begin();
}

bool compiles(const char* passes = "default<O1>") {
  return !compileApart(smallRequest(passes), {}).image.empty();
}

/// Runs `action` in a child and gives its exit status.
template <typename Action> int inChild(Action&& action) {
  const pid_t child = fork();
  if (child == 0)
    _exit(action() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

} // namespace

TEST_CASE("one compiler process serves one compilation after the other") {
  const StandIn program(kCounted);
  const std::vector<std::byte> first = compileApart(smallRequest(), {}).image;
  CHECK(compileApart(smallRequest(), {}).image == first);
  CHECK(compiles("default<O2>"));
  CHECK(program.countMarks() == 1);
}

TEST_CASE("compilations at the same time have a process each, which are kept") {
  const StandIn program(kCounted);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> threads;
    std::atomic<int> good = 0;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] { good += compiles(); });
    for (std::thread& thread : threads)
      thread.join();
    CHECK(good == 4);
  }
  CHECK(program.countMarks() <= 4);
}

TEST_CASE("eight compiler processes are kept, those that answered last") {
  const StandIn program(kCounted);
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i)
    threads.emplace_back([] { compiles("default<O2>,default<O2>,default<O2>"); });
  for (std::thread& thread : threads)
    thread.join();
  const auto countAlive = [&] {
    const std::set<pid_t> processes = processesOf(program);
    return std::ranges::count_if(processes, [](pid_t process) { return kill(process, 0) == 0; });
  };
  const auto start = std::chrono::steady_clock::now();
  while (countAlive() > 8 && std::chrono::steady_clock::now() - start < std::chrono::seconds(20))
    std::this_thread::yield();
  CHECK(countAlive() <= 8);
  CHECK(compiles());
  CHECK(program.countMarks() <= 12);
}

TEST_CASE("a compiler process that is gone is replaced") {
  const StandIn program(kCounted);
  REQUIRE(compiles());
  const pid_t process = onlyProcessOf(program);
  REQUIRE(kill(process, SIGKILL) == 0);
  REQUIRE(hasEnded(process));
  CHECK(compiles());
  CHECK(program.countMarks() == 2);
}

TEST_CASE("a compilation whose process dies is done by another one") {
  const StandIn program(kCounted);
  REQUIRE(compiles());
  std::string passes = "default<O2>";
  for (int i = 0; i < 2000; ++i) // takes some 0.6 s
    passes += ",default<O2>";
  std::thread killer([&, process = onlyProcessOf(program)] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(process, SIGKILL);
  });
  CHECK(compiles(passes.c_str()));
  killer.join();
  CHECK(program.countMarks() == 2);
}

TEST_CASE("a compiler process that hangs at a later request is ended, and the next one works") {
  const StandIn program(kCounted);
  REQUIRE(compiles());
  const pid_t process = onlyProcessOf(program);
  REQUIRE(kill(process, SIGSTOP) == 0);
  compile::ServiceOptions options;
  options.timeoutSeconds = 0.3;
  const Failure failure = failureOf([&] { compileApart(smallRequest(), options); });
  CHECK(contains(failure.message, "was ended after"));
  CHECK(hasEnded(process));
  CHECK(compiles());
  CHECK(program.countMarks() == 2);
}

TEST_CASE("after an error LLVM starts anew") {
  const StandIn program(kCounted);
  REQUIRE(compiles());
  CHECK(failureOf([&] { compiles("trigger-crash-module"); }).code == ErrorCode::CompileFailed);
  CHECK(hasEnded(*processesOf(program).begin()));
  CHECK(compiles());
  CHECK(program.countMarks() == 2);
}

TEST_CASE("a compiler process serves requests of its own circumstances only") {
  const std::filesystem::path here = std::filesystem::current_path();
  const std::filesystem::path library = std::filesystem::absolute(compile::compileLibraryPath());
  const ScopedEnvironment everywhere("MNEME_COMPILE_LIBRARY", library.c_str());
  const StandIn program(kCounted);
  REQUIRE(compiles());
  {
    const ScopedEnvironment variable("MNEME_TEST_SOMETHING", "else");
    CHECK(compiles());
    CHECK(program.countMarks() == 2);
  }
  CHECK(compiles());
  CHECK(program.countMarks() == 2);
  std::filesystem::current_path("/");
  CHECK(compiles());
  std::filesystem::current_path(here);
  CHECK(program.countMarks() == 3);
}

TEST_CASE("a child of fork has a compiler process of its own") {
  const StandIn program(kCounted);
  REQUIRE(compiles());
  CHECK(inChild([] { return compiles() && compiles(); }) == 0);
  CHECK(program.countMarks() == 2);
  CHECK(compiles());
  CHECK(program.countMarks() == 2);
}

TEST_CASE("compiler processes end with the program, however it ends") {
  for (const bool isKilled : {false, true}) {
    const StandIn program(kCounted);
    inChild([&] { return compiles() && (!isKilled || raise(SIGKILL) == 0); });
    CHECK(hasEnded(onlyProcessOf(program)));
  }
}

TEST_CASE("a compilation ends with the program") {
  const StandIn program("touch $marks/$$; exec $real \"$@\"");
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    compiles();
    for (const pid_t process : processesOf(program))
      kill(process, SIGSTOP); // it cannot answer
    [[maybe_unused]] const ssize_t ignored = write(ends[1], "x", 1);
    compiles();
    _exit(0);
  }
  char told = 0;
  REQUIRE(read(ends[0], &told, 1) == 1);
  const pid_t process = onlyProcessOf(program);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  kill(process, SIGCONT);
  CHECK(hasEnded(process));
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("the application's wait finds no compiler process") {
  const StandIn program(kCounted);
  const auto findsNone = [] {
    return compiles() && waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
  };
  CHECK(findsNone());
  kill(onlyProcessOf(program), SIGKILL);
  CHECK(hasEnded(onlyProcessOf(program)));
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(inChild([&] { // one that adopts orphans
          return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && findsNone() && findsNone();
        }) == 0);
}
