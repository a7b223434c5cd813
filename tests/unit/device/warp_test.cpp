#include <doctest/doctest.h>

#include "support.h"

using namespace test;

namespace {

std::vector<uint32_t> runMode(uint32_t mode, uint32_t threads) {
  auto image = loadImage("sync");
  Launched result = launch(*image, mode, shapeOf(3, threads));
  REQUIRE(result.outcome.message == "");
  return result.out;
}

} // namespace

TEST_CASE("butterfly shuffles sum a warp") {
  const auto out = runMode(2, 96);
  for (uint32_t i = 0; i < out.size(); ++i)
    REQUIRE(out[i] == 496 + 1024 * (i % 96 / 32));
}

TEST_CASE("shuffles under different masks do not mix") {
  const auto out = runMode(3, 64);
  for (uint32_t i = 0; i < out.size(); ++i) {
    const uint32_t lane = i % 32;
    REQUIRE(out[i] == (lane < 16 ? (lane + 3) % 16 : 16 + (lane + 5) % 16));
  }
}

TEST_CASE("shuffles stay in their segment") {
  const auto up = runMode(12, 32), down = runMode(13, 32);
  for (uint32_t i = 0; i < 96; ++i) {
    const uint32_t lane = i % 32;
    REQUIRE(up[i] == (lane % 8 >= 3 ? lane - 3 : lane));
    REQUIRE(down[i] == (lane % 8 < 5 ? lane + 3 : lane));
  }
}

TEST_CASE("active_mask names the lanes of the same branch, and they can meet under it") {
  const auto out = runMode(4, 64);
  for (uint32_t i = 0; i < out.size(); ++i)
    REQUIRE(out[i] == 11000 + (i % 32 % 3 == 0 ? 11 : 21));
}

TEST_CASE("a mask from a merged active_mask does not deadlock") {
  const auto out = runMode(18, 64);
  for (uint32_t value : out)
    REQUIRE(value == 11000 + 32);
}

TEST_CASE("active_mask does not wait for a lane that spins") {
  const auto out = runMode(5, 64);
  for (uint32_t i = 0; i < out.size(); ++i)
    REQUIRE(out[i] == (i % 32 == 5 ? 7u : 31u));
}

TEST_CASE("match finds equal lanes") {
  const auto out = runMode(8, 32);
  for (uint32_t i = 0; i < out.size(); ++i)
    REQUIRE(out[i] == ((0xffu << (i % 32 / 8 * 8)) ^ 0xffffffffu ^ 1u));
}

TEST_CASE("lanes that have returned leave every mask") {
  const auto out = runMode(9, 64);
  for (uint32_t i = 0; i < out.size(); ++i)
    REQUIRE(out[i] == i % 32 + 1);
}

TEST_CASE("warp reductions are signed or unsigned") {
  for (uint32_t value : runMode(16, 32))
    REQUIRE(value == static_cast<uint32_t>(-5) + 31);
}

TEST_CASE("a warp with missing lanes works under the full mask") {
  auto image = loadImage("sync");
  Launched result = launch(*image, 16, shapeOf(1, 40));
  REQUIRE(result.outcome.message == "");
  CHECK(result.out[0] == static_cast<uint32_t>(-5) + 31);
  CHECK(result.out[39] == static_cast<uint32_t>(-5) + 7);
}
