#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/jit/support.h"

using namespace mneme;
using namespace mneme::jit;
using namespace mneme::jit::test;

/// The leak checker does not see the stacks of threads that a forked process starts; it asks here.
static bool areStacksUnseen = false;
extern "C" [[gnu::visibility("default")]] int __lsan_is_turned_off() { return areStacksUnseen; }

namespace {

const std::string kTuned =
    R"({"k": {"LaunchBounds": false, "SpecializeDims": false, "SpecializeArgs": true}})";

/// Runs `body(thread)` on `count` threads that start together.
void onThreads(int count, const std::function<void(int)>& body) {
  Gate gate;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      gate.wait();
      body(i);
    });
  gate.open();
  for (std::thread& thread : threads)
    thread.join();
}

} // namespace

TEST_CASE("threads that launch first at once compile once, and all get the tuned kernel") {
  for (uintptr_t round = 1; round <= 50; ++round) {
    const Unit unit(round << 20, {"k"});
    World world(kTuned);
    std::atomic<int> tuned{0};
    onThreads(8, [&](int) { tuned += Launch(round << 20).run(world.engine) == kTunedStatus; });
    CHECK(tuned == 8);
    CHECK(world.compiled == 1);
    CHECK(world.loaded == 1);
  }
}

TEST_CASE("threads with different kernels, values and devices do not disturb each other") {
  std::vector<std::string> names;
  std::string file = "{";
  for (int i = 0; i < 300; ++i) {
    names.push_back("k" + std::to_string(i));
    file += (i ? ", " : "") + ("\"" + names.back() + "\": {\"LaunchBounds\": false, ") +
            R"("SpecializeDims": false, "SpecializeArgs": true})";
  }
  const Unit unit(0x100000, names);
  World world(file + "}");
  std::atomic<int> wrong{0};
  onThreads(4, [&](int thread) {
    for (int32_t round = 0; round < 10; ++round)
      for (uintptr_t kernel = 0; kernel < names.size(); ++kernel)
        wrong += Launch(0x100000 + (kernel * 7 + uintptr_t(thread)) % names.size(), round % 3)
                     .run(world.engine) != kTunedStatus;
  });
  CHECK(wrong == 0);
  CHECK(world.compiled == 900);
  CHECK(world.loaded == 900);
}

TEST_CASE("many values at once: the last few are found by each thread") {
  const Unit unit(0x1000, {"k"});
  World world(kTuned, {.maxBinaries = 20});
  std::atomic<int> wrong{0};
  onThreads(4, [&](int thread) {
    for (int32_t round = 0; round < 4000; ++round)
      wrong += Launch(0x1000, (round * 3 + thread) % 20).run(world.engine) != kTunedStatus;
  });
  // All but the first four are compiled when they are launched a second time.
  CHECK(wrong == 16);
  CHECK(world.compiled == 20);
}

TEST_CASE("sixteen threads, ten thousand launches of each, a hundred values") {
  const Unit unit(0x1000, {"k"});
  World world(kTuned, {.maxBinaries = 100});
  std::atomic<int> wrong{0};
  onThreads(16, [&](int thread) {
    for (int32_t round = 0; round < 10000; ++round)
      wrong += Launch(0x1000, (round * 13 + thread * 7) % 100).run(world.engine) != kTunedStatus;
  });
  CHECK(wrong == 96); // as above
  CHECK(world.compiled == 100);
  CHECK(world.loaded == 100);
  CHECK(world.tunedLaunches == 160000 - 96);
}

TEST_CASE("asynchronously, launches do not wait for the compiler") {
  const Unit unit(0x1000, {"k"});
  Gate gate;
  World world(kTuned, {.isAsync = true, .asyncThreads = 2});
  world.onCompile = [&](const auto&) { gate.wait(); };
  for (int i = 0; i < 3; ++i)
    CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  CHECK(world.loaded == 0);
  gate.open();
  int launches = 0;
  while (Launch(0x1000).run(world.engine) == kVendorStatus && launches < 10000000)
    ++launches;
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  CHECK(world.compiled == 1);
  CHECK(world.loaded == 1);
}

TEST_CASE("asynchronously, what is stored is there at the first launch") {
  const Unit unit(0x1000, {"k"});
  World world(kTuned, {.isAsync = true});
  world.isStored = true;
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  CHECK(world.compiled == 0);
  CHECK(world.loaded == 1);
}

TEST_CASE("asynchronously, as many threads compile as were asked for") {
  const Unit unit(0x1000, {"k"});
  World world(kTuned, {.isAsync = true, .asyncThreads = 3});
  std::atomic<int> now{0}, most{0};
  Gate three;
  world.onCompile = [&](const auto&) {
    const int running = ++now;
    most = std::max(most.load(), running);
    if (running == 3)
      three.open();
    three.wait();
    --now;
  };
  for (int32_t n = 0; n < 9; ++n)
    Launch(0x1000, n).run(world.engine);
  three.wait();
  for (int32_t n = 0; n < 9; ++n)
    while (Launch(0x1000, n).run(world.engine) == kVendorStatus)
      std::this_thread::yield();
  CHECK(most == 3);
  CHECK(world.compiled == 9);
}

TEST_CASE("asynchronous and blocking, the first launch is tuned, on another thread's work") {
  const Unit unit(0x1000, {"k"});
  World world(kTuned, {.isAsync = true, .waitsForAsync = true});
  std::thread::id compiler;
  world.onCompile = [&](const auto&) { compiler = std::this_thread::get_id(); };
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
  CHECK(compiler != std::thread::id());
  CHECK(compiler != std::this_thread::get_id());
}

TEST_CASE("asynchronously, a failure is remembered too") {
  const Unit unit(0x1000, {"k"});
  World world(kTuned, {.isAsync = true, .waitsForAsync = true});
  world.onCompile = [](const auto&) { throw Error(ErrorCode::CompileFailed, "no"); };
  for (int i = 0; i < 3; ++i)
    CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  CHECK(world.requests.size() == 1);
  CHECK(world.warnings.size() == 1);
}

TEST_CASE("a thread gives up waiting for a compilation that does not end") {
  const Unit unit(0x1000, {"k"});
  Gate begun, end;
  World world(kTuned, {.timeoutSeconds = 0.01, .graceSeconds = 0.01});
  world.onCompile = [&](const auto&) {
    begun.open();
    end.wait();
  };
  int status = 0;
  std::thread compiling([&] { status = Launch(0x1000).run(world.engine); });
  begun.wait();
  CHECK(Launch(0x1000).run(world.engine) == kVendorStatus);
  end.open();
  compiling.join();
  CHECK(status == kTunedStatus);
}

TEST_CASE("threads of the pool leave signals to the program") {
  const Unit unit(0x1000, {"k"});
  World world(kTuned, {.isAsync = true, .waitsForAsync = true});
  bool isBlocked = false;
  world.onCompile = [&](const auto&) {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    isBlocked = sigismember(&blocked, SIGUSR1) && sigismember(&blocked, SIGALRM);
  };
  Launch(0x1000).run(world.engine);
  CHECK(isBlocked);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  CHECK(!sigismember(&own, SIGUSR1));
}

TEST_CASE("a process ends while something is compiled") {
  const Unit unit(0x1000, {"k"});
  std::fflush(stdout); // else the child writes it once more
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    areStacksUnseen = true;
    static Gate& never = *new Gate; // nobody destroys what threads wait for
    World& world = *new World(kTuned, {.isAsync = true});
    world.onCompile = [](const auto&) { never.wait(); };
    Launch(0x1000).run(world.engine);
    std::exit(Launch(0x1000).run(world.engine));
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == kVendorStatus);
}

TEST_CASE("a child forked while another thread compiles launches as built") {
  const Unit unit(0x1000, {"k"});
  Gate begun, go;
  World world(kTuned);
  world.onCompile = [&](const auto&) {
    begun.open();
    go.wait();
  };
  std::thread compiling([&] { Launch(0x1000).run(world.engine); });
  begun.wait();
  std::fflush(stdout); // else the child writes it once more
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    world.engine.turnOff(); // what the fork handler does
    _exit(Launch(0x1000).run(world.engine));
  }
  int status = 0;
  waitpid(child, &status, 0);
  go.open();
  compiling.join();
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == kVendorStatus);
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
}

TEST_CASE("a unit is unloaded while another thread waits for the loader's lock") {
  const Unit unit(0x1000, {"k"});
  Unit passing(0x2000, {"other"});
  Gate begun, unloaded;
  World world(kTuned, {.graceSeconds = 0.01});
  world.onMakeBackend = [&] {
    begun.open();
    unloaded.wait();
  };
  int status = 0;
  std::thread first([&] { status = Launch(0x1000).run(world.engine); });
  begun.wait();
  // Neither a constructor that launches something nor the end of the unit waits for that thread.
  CHECK(Launch(0x2000).run(world.engine) == kVendorStatus);
  passing.leave();
  world.engine.forget(passing.entry());
  unloaded.open();
  first.join();
  CHECK(status == kTunedStatus);
  CHECK(Launch(0x1000).run(world.engine) == kTunedStatus);
}

TEST_CASE("units come and go while other kernels are launched") {
  const Unit stable(0x1000, {"k"});
  World world(kTuned, {.maxBinaries = 1000000});
  std::atomic<bool> isOver{false};
  std::atomic<int> wrong{0};
  std::thread launching([&] {
    while (!isOver)
      wrong += Launch(0x1000).run(world.engine) != kTunedStatus;
  });
  for (int round = 0; round < 300; ++round) {
    Unit passing(0x2000, {round % 2 ? "k" : "other"});
    wrong += Launch(0x2000).run(world.engine) != (round % 2 ? kTunedStatus : kVendorStatus);
    passing.leave();
    world.engine.forget(passing.entry());
  }
  isOver = true;
  launching.join();
  CHECK(wrong == 0);
}
