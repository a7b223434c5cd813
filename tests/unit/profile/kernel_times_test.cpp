#include "runtime/devices/profile/kernel_times.h"

#include <fstream>
#include <thread>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "runtime/core/base/error.h"

using namespace mneme;
using namespace mneme::profile;

namespace {

device::LaunchShape shape(uint32_t blocks) {
  device::LaunchShape made;
  made.grid[0] = blocks;
  made.block[0] = 64;
  made.dynamicSharedBytes = 16;
  return made;
}

} // namespace

TEST_CASE("a sample keeps sums of all and times of some") {
  Sample sample;
  CHECK(sample.medianNs() == 0);
  constexpr uint64_t kCount = 100'001;
  for (uint64_t ns = 0; ns < kCount; ++ns)
    sample.add(ns);
  CHECK(sample.count() == kCount);
  CHECK(sample.totalNs() == kCount * (kCount - 1) / 2);
  // What is kept lies evenly in all that came.
  CHECK(sample.medianNs() > kCount * 45 / 100);
  CHECK(sample.medianNs() < kCount * 55 / 100);
}

TEST_CASE("the launch in the middle of the time stands for the others") {
  Sample sample;
  CHECK(sample.middle() == 0);
  for (const uint64_t ns : {1, 1, 1, 1, 20, 30, 10})
    sample.add(ns);
  CHECK(sample.middle() == 5);
  Sample even;
  constexpr uint64_t kCount = 100'001;
  for (uint64_t launch = 0; launch < kCount; ++launch)
    even.add(10);
  CHECK(even.middle() > kCount * 45 / 100);
  CHECK(even.middle() < kCount * 55 / 100);
}

TEST_CASE("times are written by kernel and shape, of all threads") {
  KernelTimes times("test");
  const auto note = [&] {
    for (int launch = 0; launch < 1000; ++launch)
      times.note("_Z1kPf", shape(launch % 2 ? 8 : 4), 10);
  };
  std::thread other(note);
  note();
  other.join();
  times.note("we\"ird\xff", shape(1), 5);
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("mneme-profile-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  times.write(folder);
  std::ifstream file(folder / (std::to_string(getpid()) + "-test.json"));
  const nlohmann::json content = nlohmann::json::parse(file);
  CHECK(content["timer"] == "test");
  REQUIRE(content["rows"].size() == 3);
  const nlohmann::json& row = content["rows"][0];
  CHECK(row["kernel"] == "_Z1kPf");
  CHECK(row["grid"] == nlohmann::json({4, 1, 1}));
  CHECK(row["middle"] == 500);
  CHECK(row["block"] == nlohmann::json({64, 1, 1}));
  CHECK(row["shared"] == 16);
  CHECK(row["launches"] == 1000);
  CHECK(row["total_ns"] == 10'000);
  CHECK(row["median_ns"] == 10);
  CHECK_THROWS_AS(times.write(folder / "missing" / "deeper"), Error);
  std::filesystem::remove_all(folder);
}

TEST_CASE("without launches there is no file") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("mneme-none-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  KernelTimes("test").write(folder);
  CHECK(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}
