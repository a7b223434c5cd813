// Kernels on a part of a GPU's multiprocessors, on the fake driver.
#include <doctest/doctest.h>

#include <dlfcn.h>

#include "fake_driver.h"
#include "support.h"

using namespace mneme::device;
using test::Failing;
using test::openFake;

namespace {

fake::Application& application() {
  return *reinterpret_cast<fake::Application* (*)()>(dlsym(RTLD_DEFAULT, "fakeApplication"))();
}

/// The stream of a launch.
uintptr_t streamOfLaunch(Device& device) {
  const auto module = device.load(test::bytesOf(test::ptx), "k", {});
  LaunchShape shape;
  shape.grid[0] = 8;
  device.launch(*module, shape, nullptr, 10);
  return reinterpret_cast<uintptr_t>(application().launches.back().config.hStream);
}

} // namespace

TEST_CASE("kernels run on as many multiprocessors as asked for, in a stream of that part") {
  const auto device = openFake();
  CHECK(device->usePart(1) == 1);
  CHECK(device->description().multiprocessors == 1);
  CHECK(application().greenContexts == 1);
  CHECK(streamOfLaunch(*device) == 1001);
  device->flushCaches();
  CHECK(device->usePart(2) == 1); // at most once
  CHECK(application().greenContexts == 1);
}

TEST_CASE("a part ends with its device") {
  openFake()->usePart(2);
  CHECK(application().greenContexts == 0);
}

TEST_CASE("a cooperative launch has the part's room") {
  const auto device = openFake();
  device->usePart(2);
  const auto module = device->load(test::bytesOf(test::ptx), "k", {});
  LaunchShape shape;
  shape.isCooperative = true;
  shape.grid[0] = 5; // two blocks fit on each multiprocessor
  CHECK(test::failureOf([&] {
          device->launch(*module, shape, nullptr, 10);
        }).says("only 4 of kernel"));
}

TEST_CASE("the next number that can be parted is taken, or all") {
  const Failing failing("coscheduling=1");
  CHECK(openFake()->usePart(1) == 2);
  CHECK(openFake()->usePart(3) == 4);
  CHECK(openFake()->usePart(9) == 4);
}

TEST_CASE("a driver that makes no part leaves kernels the whole device") {
  for (const char* call :
       {"cuDeviceGetDevResource=801", "cuGreenCtxCreate=801", "cuGreenCtxStreamCreate=2"}) {
    CAPTURE(call);
    const Failing failing(call);
    const auto device = openFake();
    CHECK(device->usePart(2) == 4);
    CHECK(device->description().multiprocessors == 4);
    CHECK(application().greenContexts == 0);
    CHECK(streamOfLaunch(*device) == 16);
  }
}
