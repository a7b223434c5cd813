// A program of its own: kernels are timed by CUPTI from the first one on.
#include <doctest/doctest.h>

#include <vector>

#include "support.h"

using namespace mneme;
using namespace mneme::device;

namespace {

std::unique_ptr<Device> openTimed() {
  test::openFakeDriver();
  unsetenv("MNEME_TIMER");
  setenv("CUDA_HOME", FAKE_TOOLKIT, 1);
  return openDevice("cuda:0");
}

/// CUPTI's next flush tells of this kernel.
void ran(const char* name, uint32_t correlation, uint64_t nanoseconds) {
  static void* const library = dlopen(FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
  static const auto told = reinterpret_cast<void (*)(const char*, uint32_t, uint64_t)>(
      dlsym(library, "fakeCuptiKernel"));
  told(name, correlation, nanoseconds);
}

struct Series {
  std::unique_ptr<Device> device = openTimed();
  std::unique_ptr<Module> module = device->load(test::bytesOf(test::ptx), "k", {});
  int restored = 0;

  std::vector<uint64_t> run(uint32_t count) {
    return device->launchSeries(*module, {}, nullptr, 10, count, [&] { ++restored; });
  }
};

} // namespace

TEST_CASE("kernels in a row have times of their own, without mneme's own kernels") {
  Series series;
  REQUIRE(std::string(series.device->timerName()) == "cupti");
  ran("_Z1kv", 12, 120); // records come in any order
  ran("mnemeCopyRanges", 11, 5);
  ran("_Z1kv", 14, 140);
  ran("_Z1kv", 10, 100);
  CHECK(series.run(3) == std::vector<uint64_t>{100, 120, 140});
  CHECK(series.restored == 3);
  // None of them is taken for the next kernel.
  ran("_Z1kv", 20, 200);
  CHECK(series.device->launch(*series.module, {}, nullptr, 10) == 200);
  ran("_Z1kv", 30, 300);
  ran("_Z1kv", 31, 310);
  CHECK(series.run(2) == std::vector<uint64_t>{300, 310});
  CHECK(std::string(series.device->timerName()) == "cupti");
}

TEST_CASE("where a record is missing kernels are waited for one by one") {
  Series series;
  ran("_Z1kv", 40, 400);
  CHECK(series.run(2) == std::vector<uint64_t>{500000, 500000}); // of events: CUPTI told nothing
  CHECK(series.restored == 4);
  CHECK(series.device->isUsable());
}
