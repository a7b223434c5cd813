#include "runtime/core/base/parallel.h"

#include <stdexcept>

#include <doctest/doctest.h>

using namespace mneme;

TEST_CASE("every index is visited once, by however many threads") {
  for (const unsigned threads : {0u, 1u, 3u, 100u}) {
    CAPTURE(threads);
    std::vector<std::atomic<int>> visits(1000);
    parallelFor(visits.size(), threads, [&](uint64_t index) { ++visits[index]; });
    CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& count) { return count == 1; }));
  }
  parallelFor(0, 4, [](uint64_t) { FAIL("there is no index"); });
}

TEST_CASE("what a body throws arrives once all threads have ended") {
  std::atomic<int> running{0};
  const auto body = [&](uint64_t index) {
    ++running;
    if (index == 10) {
      --running;
      throw std::runtime_error("the tenth");
    }
    --running;
  };
  CHECK_THROWS_WITH_AS(parallelFor(1000, 4, body), "the tenth", std::runtime_error);
  CHECK(running == 0);
}
