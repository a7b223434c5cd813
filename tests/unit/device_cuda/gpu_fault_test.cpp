#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "gpu_support.h"

using namespace mneme;
using namespace mneme::device;
using namespace test;

TEST_CASE("child: runs a kernel that fails" * doctest::skip()) {
  const auto gpu = openGpu();
  REQUIRE(gpu);
  const Memory memory(*gpu, 4096);
  const auto staging = gpu->makeStaging(4096);
  const auto good = load(*gpu, kernels, "empty");
  const auto bad = load(*gpu, kernels, getenv("TEST_KERNEL"));
  uint64_t flag = memory.address;
  void* args[] = {&flag};
  gpu->launch(*good, shapeOf(1, 32), nullptr, 5);
  std::printf("%s\n", messageOf([&] { gpu->launch(*bad, shapeOf(1, 32), args, 1); }).c_str());
  std::printf("usable: %d\n", gpu->isUsable());
  std::printf("%s\n", messageOf([&] { gpu->launch(*good, shapeOf(1, 32), nullptr, 1); }).c_str());
  std::fflush(stdout);
}

TEST_CASE("child: prints from a kernel" * doctest::skip()) {
  const auto gpu = openGpu();
  REQUIRE(gpu);
  const auto module = load(*gpu, kernels, "hello");
  gpu->launch(*module, shapeOf(1, 2), nullptr, 5);
  std::fflush(stdout);
  std::printf("after the launch\n");
}

TEST_CASE("child: measures launches" * doctest::skip()) {
  std::unique_ptr<Device> gpu;
  const double opening = secondsFor([&] { gpu = openGpu(); });
  REQUIRE(gpu);
  const auto module = load(*gpu, kernels, "empty");
  const double first = secondsFor([&] { gpu->launch(*module, shapeOf(1, 32), nullptr, 10); });
  std::printf("%s: opening %.0f ms, first launch %.1f ms\n", gpu->timerName(), opening * 1e3,
              first * 1e3);
  constexpr int count = 2000;
  for (const double limit : {0.0, 10.0}) {
    std::vector<uint64_t> times;
    const double seconds = secondsFor([&] {
      for (int i = 0; i < count; ++i)
        times.push_back(gpu->launch(*module, shapeOf(1, 32), nullptr, limit));
    });
    std::sort(times.begin(), times.end());
    std::printf("%s: %.1f us per launch and wait of an empty kernel, which takes %llu ns (median; "
                "%llu to %llu), limit %g s\n",
                gpu->timerName(), seconds / count * 1e6, (unsigned long long)times[count / 2],
                (unsigned long long)times.front(), (unsigned long long)times.back(), limit);
  }
  const double cold = secondsFor([&] {
    for (int i = 0; i < 100; ++i) {
      gpu->flushCaches();
      gpu->launch(*module, shapeOf(1, 32), nullptr, 10);
    }
  });
  std::printf("%s: %.1f us per launch with cold caches\n", gpu->timerName(), cold / 100 * 1e6);
}

TEST_CASE("faults of a kernel have the driver's text and cost one process") {
  if (!openGpu())
    return;
  for (const auto& [kernel, text] :
       {std::pair("illegal", "illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS"),
        std::pair("trapping", "(CUDA_ERROR_")}) {
    const std::string output =
        outputOfChild("child: runs a kernel that fails", "TEST_KERNEL", kernel);
    std::printf("%s", output.substr(0, output.find("usable")).c_str());
    CHECK(has(output, std::string("device failed: kernel '") + kernel + "' failed: "));
    CHECK(has(output, text));
    CHECK(has(output, "usable: 0\n"));
    CHECK(has(output, "lost to an earlier failure"));
    CHECK(has(output, "exit status 0"));
  }
}

TEST_CASE("a kernel that never ends costs its time limit, and the process ends") {
  if (!openGpu())
    return;
  for (const char* timer : {"events", "cupti"}) {
    setenv("MNEME_TIMER", timer, 1);
    std::string output;
    const double seconds = secondsFor(
        [&] { output = outputOfChild("child: runs a kernel that fails", "TEST_KERNEL", "hang"); });
    unsetenv("MNEME_TIMER");
    std::printf("hanging kernel (%s): %.1f s in all\n", timer, seconds);
    CHECK(has(output, "device failed: kernel 'hang' ran longer than 1 s"));
    CHECK(has(output, "exit status 0"));
    CHECK(seconds < 20);
  }
}

TEST_CASE("what a kernel prints is out when the launch returns") {
  if (!openGpu())
    return;
  const std::string output = outputOfChild("child: prints from a kernel", "MNEME_TIMER", "events");
  const size_t greeting = output.find("hello gpu 7!\nhello gpu 7!\n");
  CHECK(greeting != std::string::npos);
  CHECK(greeting < output.find("after the launch"));
}

TEST_CASE("the cost of a launch is told") {
  if (!openGpu())
    return;
  for (const char* timer : {"events", "cupti"}) {
    const std::string output = outputOfChild("child: measures launches", "MNEME_TIMER", timer);
    for (size_t at = 0; (at = output.find(timer == std::string("events") ? "events: " : "cupti: ",
                                          at)) != std::string::npos;) {
      const size_t end = output.find('\n', at);
      std::printf("%s\n", output.substr(at, end - at).c_str());
      at = end;
    }
    CHECK(has(output, "exit status 0"));
  }
}
