#include <doctest/doctest.h>

#include <cstring>

#include "runtime/jit/tuned/select.h"

using namespace mneme;
using namespace mneme::tuned;

namespace {

template <typename Value>
ArgValue argOf(uint32_t index, Value value, ArgKind kind = ArgKind::Integer) {
  ArgValue arg{.index = index, .bytes = std::vector<std::byte>(sizeof(value)), .kind = kind};
  std::memcpy(arg.bytes.data(), &value, sizeof(value));
  return arg;
}

/// Found on sm_90 for `blocks` blocks of 256 threads and n = `n`.
Variant variantFor(uint32_t blocks, int32_t n, double weight = 1) {
  Variant variant;
  variant.match = {.arch = "sm_90",
                   .grid = mneme_dim3{blocks, 1, 1},
                   .block = mneme_dim3{256, 1, 1},
                   .sharedBytes = 0,
                   .args = {argOf(0, n)}};
  variant.weight = weight;
  return variant;
}

/// A launch of a kernel (int n, float f).
struct Launch {
  explicit Launch(uint32_t blocks, int32_t n, uint32_t threads = 256, std::string arch = "sm_90")
      : n(n) {
    facts = {.arch = std::move(arch),
             .dims = {{blocks, 1, 1}, {threads, 1, 1}},
             .sharedBytes = 0,
             .args = args};
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  int32_t n;
  float f = 0;
  void* args[2] = {&n, &f};
  LaunchFacts facts;
};

} // namespace

TEST_CASE("the variant of the same launch wins") {
  const std::vector<Variant> variants{variantFor(8, 100), variantFor(16, 200), variantFor(32, 400)};
  const Choice choice = choose(variants, Launch(16, 200).facts);
  CHECK(choice.variant == 1);
  CHECK(choice.closeness == Closeness::Same);
  CHECK(choice.likeness == Likeness::Same);
}

TEST_CASE("another argument is another launch") {
  const std::vector<Variant> variants{variantFor(16, 200)};
  const Choice choice = choose(variants, Launch(16, 201).facts);
  CHECK(choice.closeness == Closeness::Nearest);
  CHECK(choice.likeness == Likeness::SameShared);
}

TEST_CASE("another launch takes the nearest variant") {
  const std::vector<Variant> variants{variantFor(8, 100), variantFor(64, 800),
                                      variantFor(512, 6400)};
  CHECK(choose(variants, Launch(10, 120).facts).variant == 0);
  CHECK(choose(variants, Launch(40, 500).facts).variant == 1);
  CHECK(choose(variants, Launch(100000, 2000000000).facts).variant == 2);
  CHECK(choose(variants, Launch(1, 1).facts).variant == 0);
  CHECK(choose(variants, Launch(40, 500).facts).closeness == Closeness::Nearest);
}

TEST_CASE("a block of another size is farther than the same one") {
  std::vector<Variant> variants{variantFor(16, 200), variantFor(16, 200)};
  variants[1].match.block = mneme_dim3{64, 1, 1};
  variants[1].match.grid = mneme_dim3{64, 1, 1}; // as many threads
  CHECK(choose(variants, Launch(64, 200, 64).facts).variant == 1);
  CHECK(choose(variants, Launch(32, 200, 128).facts).variant == 0); // equally far: the first
}

TEST_CASE("the same architecture comes before everything else") {
  std::vector<Variant> variants{variantFor(16, 200), variantFor(4096, 100000)};
  variants[0].match.arch = "sm_80";
  const Choice choice = choose(variants, Launch(16, 200).facts);
  CHECK(choice.variant == 1);
  CHECK(choice.closeness == Closeness::Nearest);
  const Choice other = choose(std::span(variants).first(1), Launch(16, 200).facts);
  CHECK(other.closeness == Closeness::OtherArch);
  CHECK(other.likeness == Likeness::Same);
}

TEST_CASE("on another architecture the same launch still comes first") {
  std::vector<Variant> variants{variantFor(17, 210, 9), variantFor(16, 200)};
  CHECK(choose(variants, Launch(16, 200, 256, "sm_100").facts).variant == 1);
}

TEST_CASE("of equals the heavier wins, then the first") {
  std::vector<Variant> variants{variantFor(16, 200, 1), variantFor(16, 200, 3),
                                variantFor(16, 200, 3)};
  CHECK(choose(variants, Launch(16, 200).facts).variant == 1);
  CHECK(choose(variants, Launch(20, 300).facts).variant == 1);
}

TEST_CASE("guards decide whether a variant is used at all") {
  const auto isUsed = [](auto&& guard, const Launch& launch) {
    std::vector<Variant> variants{variantFor(16, 200)};
    guard(variants[0].guards);
    return choose(variants, launch.facts).closeness != Closeness::None;
  };
  const Launch same(16, 200), otherArch(16, 200, 256, "sm_80"), otherGrid(17, 200),
      otherBlock(16, 200, 128), otherArg(16, 201);
  const auto arch = [](Guards& guards) { guards.arch = true; };
  const auto grid = [](Guards& guards) { guards.grid = true; };
  const auto block = [](Guards& guards) { guards.block = true; };
  const auto shared = [](Guards& guards) { guards.sharedBytes = true; };
  const auto arg = [](Guards& guards) { guards.args = {{0}}; };
  for (const auto* launch : {&same, &otherGrid, &otherBlock, &otherArg})
    CHECK(isUsed(arch, *launch));
  CHECK(!isUsed(arch, otherArch));
  CHECK(isUsed(grid, otherBlock));
  CHECK(!isUsed(grid, otherGrid));
  CHECK(isUsed(block, otherGrid));
  CHECK(!isUsed(block, otherBlock));
  CHECK(isUsed(arg, otherBlock));
  CHECK(!isUsed(arg, otherArg));
  CHECK(isUsed(shared, same));
  Launch withShared(16, 200);
  withShared.facts.sharedBytes = 4;
  CHECK(!isUsed(shared, withShared));
}

TEST_CASE("a guarded argument counts alone, the others only for nearness") {
  std::vector<Variant> variants{variantFor(16, 200)};
  variants[0].match.args.push_back(argOf(1, 2.5f, ArgKind::Float));
  variants[0].guards.args = {{1}};
  Launch launch(16, 999);
  CHECK(choose(variants, launch.facts).closeness == Closeness::None);
  launch.f = 2.5f;
  CHECK(choose(variants, launch.facts).closeness == Closeness::Nearest);
}

TEST_CASE("distance adds up the ratios of threads, block and integers") {
  const Match match = variantFor(16, 200).match;
  CHECK(distance(match, Launch(16, 200).facts) == 0);
  CHECK(distance(match, Launch(32, 200).facts) == doctest::Approx(1));
  CHECK(distance(match, Launch(8, 200).facts) == doctest::Approx(1));
  CHECK(distance(match, Launch(16, 200, 128).facts) == doctest::Approx(2)); // threads and block
  CHECK(distance(match, Launch(16, 800).facts) == doctest::Approx(2));
  CHECK(distance(match, Launch(64, 100).facts) == doctest::Approx(3));
}

TEST_CASE("values without a ratio are far but comparable") {
  const Match match = variantFor(16, 200).match;
  CHECK(distance(match, Launch(16, 0).facts) == 64);
  CHECK(distance(match, Launch(16, -200).facts) == 64);
  CHECK(distance(variantFor(16, 0).match, Launch(16, 0).facts) == 0);
  CHECK(distance(variantFor(16, -3).match, Launch(16, -3).facts) == 0);
  CHECK(distance(match, Launch(0, 200).facts) == 64);
}

TEST_CASE("floats count for sameness only") {
  std::vector<Variant> variants{variantFor(16, 200)};
  variants[0].match.args.push_back(argOf(1, 2.5f, ArgKind::Float));
  Launch launch(16, 200);
  CHECK(choose(variants, launch.facts).closeness == Closeness::Nearest);
  CHECK(distance(variants[0].match, launch.facts) == 0);
  CHECK(choose(variants, launch.facts).likeness == Likeness::SameCounts);
  launch.f = 2.5f;
  CHECK(choose(variants, launch.facts).likeness == Likeness::Same);
  launch.n = 201;
  CHECK(choose(variants, launch.facts).likeness == Likeness::SameShared);
  launch.facts.sharedBytes = 8;
  CHECK(choose(variants, launch.facts).likeness == Likeness::Other);
}

TEST_CASE("an aggregate counts for likeness, not for distance") {
  std::vector<Variant> variants{variantFor(16, 200)};
  variants[0].match.args.push_back(argOf(1, 2.5f, ArgKind::Aggregate)); // bytes of something
  Launch launch(16, 200);
  CHECK(choose(variants, launch.facts).likeness == Likeness::SameShared);
  CHECK(distance(variants[0].match, launch.facts) == 0);
}

TEST_CASE("a variant that says nothing fits everything, but has no matched launch") {
  const std::vector<Variant> variants(1);
  const Choice choice = choose(variants, Launch(3, 5).facts);
  CHECK(choice.closeness == Closeness::Same);
  CHECK(choice.likeness == Likeness::Other);
}

TEST_CASE("no variant, no choice") {
  CHECK(choose({}, Launch(3, 5).facts).closeness == Closeness::None);
}

TEST_CASE("integers are sign extended from their size") {
  const auto valueOf = [](auto value) { return integerOf(argOf(0, value).bytes); };
  CHECK(valueOf(int8_t{-1}) == -1);
  CHECK(valueOf(int16_t{-300}) == -300);
  CHECK(valueOf(int32_t{2048}) == 2048);
  CHECK(valueOf(INT64_MIN) == INT64_MIN);
  CHECK(valueOf(uint32_t{0x80000000}) == INT32_MIN);
}
