#include <doctest/doctest.h>

#include <cstring>
#include <ctime>
#include <random>

#include "runtime/jit/tuned/variant_index.h"

using namespace mneme;
using namespace mneme::tuned;

namespace {

std::vector<std::byte> bytesOf(int32_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Small values, so that much is equal.
class Maker {
public:
  explicit Maker(unsigned seed) : random_(seed) {}
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool coin() { return below(2) == 0; }

  Variant variant() {
    Variant variant;
    Match& match = variant.match;
    Guards& guards = variant.guards;
    match.arch = coin() ? (coin() ? "sm_80" : "sm_90") : "";
    if (coin())
      match.grid = mneme_dim3{1 + below(3), 1, 1};
    if (coin())
      match.block = mneme_dim3{32u << below(3), 1, 1};
    if (coin())
      match.sharedBytes = below(2);
    for (uint32_t index = 0; index < 2; ++index)
      if (coin())
        match.args.push_back({.index = index,
                              .bytes = bytesOf(static_cast<int32_t>(below(3))),
                              .kind = index == 0 ? ArgKind::Integer : ArgKind::Float});
    guards = {.arch = coin() && !match.arch.empty(),
              .grid = coin() && match.grid,
              .block = coin() && match.block,
              .sharedBytes = coin() && match.sharedBytes};
    for (const ArgValue& arg : match.args)
      if (coin())
        guards.args.push_back({arg.index});
    variant.weight = below(3);
    return variant;
  }

private:
  std::mt19937 random_;
};

} // namespace

TEST_CASE("the index chooses what a look at all variants does") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Maker maker(seed);
    std::vector<Variant> variants;
    for (uint32_t i = 0, count = 1 + maker.below(60); i < count; ++i)
      variants.push_back(maker.variant());
    const VariantIndex index(variants);
    for (int round = 0; round < 200; ++round) {
      int32_t values[2] = {static_cast<int32_t>(maker.below(4)),
                           static_cast<int32_t>(maker.below(4))};
      void* args[2] = {&values[0], &values[1]};
      const LaunchFacts facts{.arch = maker.coin() ? "sm_90" : "sm_80",
                              .dims = {{1 + maker.below(4), 1, 1}, {32u << maker.below(3), 1, 1}},
                              .sharedBytes = maker.below(3),
                              .args = args};
      const Choice all = choose(variants, facts), indexed = index.choose(facts);
      REQUIRE(indexed.closeness == all.closeness);
      if (all.closeness != Closeness::None) {
        REQUIRE(indexed.variant == all.variant);
        REQUIRE(indexed.likeness == all.likeness);
      }
    }
  }
}

TEST_CASE("choosing takes no longer for a hundred times the variants") {
  std::vector<Variant> variants(50000);
  for (uint32_t i = 0; i < variants.size(); ++i) {
    variants[i].match = {.arch = "sm_90", .grid = mneme_dim3{1, 1, 1}, .sharedBytes = i};
    variants[i].guards = {.arch = true, .grid = true, .sharedBytes = true};
  }
  const VariantIndex index(variants);
  const std::clock_t start = std::clock(); // time of this process, not of the machine
  for (uint64_t shared = 0; shared < 200000; ++shared) {
    const LaunchFacts facts{.arch = "sm_90", .sharedBytes = shared};
    const Choice choice = index.choose(facts);
    REQUIRE((choice.closeness == Closeness::Same) == (shared < 50000));
    if (shared < 50000)
      REQUIRE(choice.variant == shared);
  }
  CHECK(std::clock() - start < 10 * CLOCKS_PER_SEC); // 0.1 s
}
