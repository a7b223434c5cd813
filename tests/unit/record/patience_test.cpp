#include "runtime/recorder/patience.h"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>

#include "runtime/recorder/device_waiter.h"

namespace mneme::record::test {
namespace {

using namespace std::chrono_literals;

} // namespace

TEST_CASE("who has no patience asks once") {
  int asked = 0;
  CHECK_FALSE(waitUntil([&] { return ++asked > 1; }, Patience(0s)));
  CHECK(asked == 1);
  CHECK(waitUntil([] { return true; }, Patience(0s)));
}

TEST_CASE("patience is over when others have opened the gate") {
  Gate gate;
  REQUIRE(gate.shut(1s));
  const Patience patience(1h, &gate);
  CHECK_FALSE(patience.isOver());
  gate.open();
  CHECK(patience.isOver());
  CHECK_FALSE(waitUntil([] { return false; }, patience));
}

TEST_CASE("a device is waited for as long as there is patience") {
  static std::atomic<bool> isBusy{true};
  static std::atomic<int> calls{0};
  static DeviceWaiter& waiter = *new DeviceWaiter([] {
    ++calls;
    while (isBusy)
      std::this_thread::sleep_for(1ms);
    return 7;
  });
  CHECK_FALSE(waiter.wait(Patience(50ms)));
  CHECK_FALSE(waiter.wait(Patience(1h))); // somebody has waited in vain: at once
  CHECK(calls == 1);
  isBusy = false;
  while (!waiter.wait(Patience(1h))) // once that call has come back
    std::this_thread::sleep_for(1ms);
  CHECK(waiter.wait(Patience(1h)) == 7);
  CHECK(calls == 3);
}

TEST_CASE("all who wait for a device learn of what was begun before they asked") {
  static std::atomic<int> begun{0}, missed{0};
  static DeviceWaiter& waiter = *new DeviceWaiter([] { return begun.load(); });
  std::vector<std::thread> threads;
  for (int index = 0; index < 4; ++index)
    threads.emplace_back([] {
      for (int round = 0; round < 500; ++round) {
        const int mine = ++begun;
        missed += waiter.wait(Patience(1h)).value_or(0) < mine;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(missed == 0);
}

} // namespace mneme::record::test
