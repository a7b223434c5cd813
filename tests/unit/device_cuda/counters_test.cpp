#include <doctest/doctest.h>

#include "support.h"

using namespace mneme;
using namespace mneme::device;
using test::failureOf;

namespace {

/// From the first call on, the CUPTI of this process is the stand-in.
std::unique_ptr<Device> openWithCupti() {
  setenv("CUDA_HOME", FAKE_TOOLKIT, 1);
  return test::openFake();
}

struct FailingCupti {
  explicit FailingCupti(const char* calls) { setenv("MNEME_FAKE_CUPTI", calls, 1); }
  FailingCupti(const FailingCupti&) = delete;
  ~FailingCupti() { unsetenv("MNEME_FAKE_CUPTI"); }
};

/// How much of what CUPTI gave was not given back.
int left() {
  static void* const library = dlopen(FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<int (*)()>(dlsym(library, "fakeCuptiLeft"))();
}

std::vector<double> countersOf(Device& device, const std::vector<std::string>& names) {
  const auto module = device.load(test::bytesOf(test::ptx), "k", {});
  const auto passes = device.startCounters(names);
  bool isLast = false;
  while (!isLast) {
    passes->begin();
    CHECK(device.launch(*module, {}, nullptr, 10) == 500000);
    isLast = passes->end();
  }
  return passes->values();
}

} // namespace

TEST_CASE("counters are read in as many passes as they need") {
  const auto device = openWithCupti();
  CHECK(countersOf(*device, {"dram__bytes.sum"}) == std::vector<double>{1000});
  CHECK(countersOf(*device, {"a.sum", "b.sum", "c.sum"}) == std::vector<double>{3000, 3001, 3002});
  CHECK(countersOf(*device, {"a.sum", "b.sum", "c.sum"}) == std::vector<double>{3000, 3001, 3002});
}

TEST_CASE("nothing of CUPTI's is left behind") {
  {
    const auto device = openWithCupti();
    countersOf(*device, {"a.sum"});
    const auto passes = device->startCounters({"b.sum"});
    passes->begin(); // and never ended
  }
  CHECK(left() == 0);
}

TEST_CASE("a driver that keeps counters to administrators is named as the reason") {
  const auto device = openWithCupti();
  for (const char* calls : {"cuptiProfilerGetCounterAvailability=35", "cuptiRangeProfilerEnable=35",
                            "cuptiRangeProfilerStart=35", "cuptiRangeProfilerSetConfig=40"}) {
    const FailingCupti failing(calls);
    const auto failure = failureOf([&] { countersOf(*device, {"a.sum"}); });
    CHECK(failure.code == ErrorCode::BackendUnavailable);
    CHECK(failure.says("the driver lets only administrators read hardware counters (CUPTI_ERROR_"));
  }
  CHECK(device->isUsable());
  CHECK(countersOf(*device, {"a.sum"}) == std::vector<double>{1000});
}

TEST_CASE("a counter that the GPU does not have is named") {
  const auto device = openWithCupti();
  const auto failure = failureOf([&] { device->startCounters({"a.sum", "nonsense.sum"}); });
  CHECK(failure.code == ErrorCode::InvalidArgument);
  CHECK(failure.says("Fake GPU 0 has no hardware counter 'nonsense.sum'"));
}

TEST_CASE("what else goes wrong says what CUPTI was doing") {
  const auto device = openWithCupti();
  const FailingCupti failing("cuptiRangeProfilerStop=999");
  const auto failure = failureOf([&] { countersOf(*device, {"a.sum"}); });
  CHECK(failure.code == ErrorCode::DeviceFailed);
  CHECK(failure.says("ending a pass failed with CUPTI_ERROR_UNKNOWN"));
}

TEST_CASE("the CPU device says that it has no counters") {
  const auto device = openDevice("cpu");
  CHECK(failureOf([&] { device->startCounters({"a.sum"}); }).says("cpu has no hardware counters"));
}
