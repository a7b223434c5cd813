#include "runtime/recorder/gate.h"

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <pthread.h>

#include "runtime/recorder/inside_call.h"

namespace mneme::record::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Threads that are in the gate most of the time.
class Passers {
public:
  Passers(Gate& gate, int count) {
    for (int index = 0; index < count; ++index)
      threads_.emplace_back([&] {
        while (!isStopping_) {
          gate.enter();
          ++inside;
          for (const auto end = Clock::now() + 100us; Clock::now() < end;) {
          }
          --inside;
          ++calls;
          gate.leave();
        }
      });
    while (calls < count)
      std::this_thread::sleep_for(1ms);
  }
  ~Passers() {
    isStopping_ = true;
    for (std::thread& thread : threads_)
      thread.join();
  }
  std::atomic<int> inside{0}, calls{0};

private:
  std::atomic<bool> isStopping_{false};
  std::vector<std::thread> threads_;
};

/// What a call made by the vendor's runtime sees, some frames further down.
[[gnu::noinline]] bool asFromVendor() {
  volatile char frame[256] = {};
  return isInsideCall() && frame[0] == 0;
}

} // namespace

TEST_CASE("the thread that shuts the gate is alone, however many threads pass it") {
  Gate gate;
  Passers passers(gate, 64);
  for (int round = 0; round < 20; ++round) {
    REQUIRE(gate.shut(20s));
    CHECK(passers.inside == 0);
    const int before = passers.calls;
    std::this_thread::sleep_for(1ms);
    CHECK(passers.calls == before);
    gate.open();
  }
  const int before = passers.calls;
  while (passers.calls < before + 64) // they go on
    std::this_thread::sleep_for(1ms);
}

TEST_CASE("one at a time has the gate shut") {
  Gate gate;
  std::atomic<int> holders{0}, most{0};
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        if (!gate.shut(20s))
          continue;
        most = std::max(most.load(), ++holders);
        --holders;
        gate.open();
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(most == 1);
}

TEST_CASE("a call that never ends is not waited for without bound, and others pass meanwhile") {
  Gate gate;
  gate.enter(); // and never leaves
  std::atomic<bool> hasPassed{false};
  const auto begin = Clock::now();
  std::thread outsider([&] {
    std::this_thread::sleep_for(50ms);
    gate.enter();
    hasPassed = true;
    gate.leave();
  });
  CHECK_FALSE(gate.shut(200ms));
  CHECK(Clock::now() - begin < 5s);
  outsider.join();
  CHECK(hasPassed);
}

TEST_CASE("a call that waits for a thread outside is helped while the gate is being shut") {
  Gate gate;
  std::atomic<bool> isServed{false};
  gate.enter(); // the call
  std::thread outsider([&] {
    std::this_thread::sleep_for(100ms);
    gate.enter();
    isServed = true;
    gate.leave();
  });
  std::thread call([&] {
    while (!isServed)
      std::this_thread::sleep_for(1ms);
    gate.leave();
  });
  CHECK(gate.shut(20s));
  CHECK(isServed);
  gate.open();
  outsider.join();
  call.join();
}

TEST_CASE("a shut gate that nobody opens keeps no other from giving up") {
  Gate gate;
  REQUIRE(gate.shut(20s));
  CHECK_FALSE(gate.shut(100ms));
  gate.open();
  CHECK(gate.shut(20s));
  gate.open();
}

TEST_CASE("those kept outside open the gate when who has shut it waits for too long") {
  Gate gate;
  REQUIRE(gate.shut(20s));
  std::thread outsider([&] {
    gate.enter();
    gate.leave();
  });
  std::this_thread::sleep_for(100ms);
  gate.yieldAfter(50ms);
  outsider.join();
  CHECK_FALSE(gate.endYielding());
  gate.open();
  REQUIRE(gate.shut(20s));
  gate.yieldAfter(10s);
  CHECK(gate.endYielding());
  gate.open();
}

TEST_CASE("a call left by a jump is given up at the next one") {
  Gate gate;
  static jmp_buf place;
  if (setjmp(place) == 0) {
    const Call call(gate, Call::Kind::Passing);
    gate.enter();
    CHECK(asFromVendor());
    longjmp(place, 1);
  }
  CHECK_FALSE(isInsideCall());
  CHECK(wasAnyCallLeft());
  CHECK(gate.shut(20s));
  gate.open();
}

TEST_CASE("a call is given up when its thread ends in it") {
  Gate gate;
  std::thread([&] {
    gate.enter();
    alignas(Call) static std::byte memory[sizeof(Call)]; // never destroyed
    new (memory) Call(gate, Call::Kind::Passing);
  }).join();
  CHECK(gate.shut(20s));
  gate.open();
}

TEST_CASE("a thread is cancelled in the application's call, not in ours") {
  std::atomic<bool> isInside{false}, hasLeft{false};
  std::thread thread([&] {
    const DeferredCancellation deferred;
    isInside = true;
    std::this_thread::sleep_for(50ms); // a place where threads are cancelled
    hasLeft = true;
    const CancellationOfCaller asCaller;
    std::this_thread::sleep_for(10s);
  });
  while (!isInside) {
  }
  pthread_cancel(thread.native_handle());
  const auto begin = Clock::now();
  thread.join();
  CHECK(hasLeft);
  CHECK(Clock::now() - begin < 5s);
}

} // namespace mneme::record::test
