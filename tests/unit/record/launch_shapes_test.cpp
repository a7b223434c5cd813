#include "runtime/recorder/launch_shapes.h"

#include <doctest/doctest.h>

namespace mneme::record::test {
namespace {

mneme_launch launchOf(mneme_dim3 grid, mneme_dim3 block, uint64_t sharedBytes = 0) {
  mneme_launch launch{};
  launch.grid = grid;
  launch.block = block;
  launch.sharedBytes = sharedBytes;
  return launch;
}

LaunchShapes parsed(const char* text) {
  const auto shapes = LaunchShapes::parse(text);
  REQUIRE(shapes);
  return *shapes;
}

} // namespace

TEST_CASE("without a list every launch is wanted") {
  const auto match = parsed("").match("k", launchOf({1, 1, 1}, {1, 1, 1}));
  CHECK(match.isWanted);
  CHECK(match.entry == 0);
  CHECK(match.share(4) == 4);
}

TEST_CASE("missing axes are 1, and missing bytes are any") {
  const LaunchShapes shapes = parsed("64x8/256;2/32x4x2/16;");
  CHECK(shapes.match("k", launchOf({64, 8, 1}, {256, 1, 1}, 99)).entry == 1);
  CHECK(shapes.match("k", launchOf({2, 1, 1}, {32, 4, 2}, 16)).entry == 2);
  CHECK_FALSE(shapes.match("k", launchOf({2, 1, 1}, {32, 4, 2}, 17)).isWanted);
  CHECK_FALSE(shapes.match("k", launchOf({64, 8, 2}, {256, 1, 1})).isWanted);
}

TEST_CASE("an entry with a name is about that kernel only") {
  const LaunchShapes shapes = parsed("_Z1kPf:4/32;_Z1kPf:8/32;_Z1kPf:9/32");
  const auto match = shapes.match("_Z1kPf", launchOf({8, 1, 1}, {32, 1, 1}));
  CHECK(match.entry == 2);
  CHECK(match.share(4) == 2); // of four recordings, rounded up for each of three
  CHECK(match.share(0) == 0);
  CHECK_FALSE(shapes.match("_Z1kPf", launchOf({5, 1, 1}, {32, 1, 1})).isWanted);
  CHECK(shapes.match("other", launchOf({5, 1, 1}, {32, 1, 1})).isWanted);
}

TEST_CASE("an entry says how many of its launches pass first") {
  const LaunchShapes shapes = parsed("k:4/32@7;k:8/32/16@123;k:9/32");
  CHECK(shapes.match("k", launchOf({4, 1, 1}, {32, 1, 1})).first == 7);
  CHECK(shapes.match("k", launchOf({8, 1, 1}, {32, 1, 1}, 16)).first == 123);
  CHECK(shapes.match("k", launchOf({9, 1, 1}, {32, 1, 1})).first == 0);
  CHECK(shapes.match("other", launchOf({4, 1, 1}, {32, 1, 1})).first == 0);
}

TEST_CASE("anything that is not a list is not read") {
  for (const std::string text :
       {"4", "4/", "/4", "4x/4", "0/4", "4/4/x", "4/4/4/4", "4x4x4x4/1", "k:", "4/4@", "4/4@x",
        "4@1/4", "4/4@-1", "-4/4", "4/4;;", ";", "99999999999/1"}) {
    CAPTURE(text);
    CHECK_FALSE(LaunchShapes::parse(text));
  }
}

} // namespace mneme::record::test
