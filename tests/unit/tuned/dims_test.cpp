#include <doctest/doctest.h>

#include "runtime/jit/tuned/dims.h"

using namespace mneme::tuned;

namespace {

LaunchOverride ruleOf(LaunchRule rule) {
  return {
      .rule = rule, .matched = {{128, 128, 1}, {16, 16, 1}}, .tuned = {{64, 256, 1}, {32, 8, 1}}};
}

Dims dimsOf(mneme_dim3 grid, mneme_dim3 block) { return {grid, block}; }

} // namespace

TEST_CASE("the matched launch gets the tuned dimensions whatever the rule") {
  for (const LaunchRule rule : {LaunchRule::Exact, LaunchRule::Cover, LaunchRule::Agnostic}) {
    const LaunchOverride tuned = ruleOf(rule);
    CHECK(overrideDims(tuned, tuned.matched, Likeness::Same) == tuned.tuned);
    CHECK(!overrideDims(tuned, tuned.matched, Likeness::Other));
  }
}

TEST_CASE("floating-point arguments are for exact alone to compare") {
  for (const LaunchRule rule : {LaunchRule::Cover, LaunchRule::Agnostic}) {
    const LaunchOverride tuned = ruleOf(rule);
    CHECK(overrideDims(tuned, tuned.matched, Likeness::SameCounts) == tuned.tuned);
    CHECK(!overrideDims(tuned, tuned.matched, Likeness::SameShared));
  }
}

TEST_CASE("exact leaves every other launch alone, of the same dimensions too") {
  const LaunchOverride tuned = ruleOf(LaunchRule::Exact);
  CHECK(!overrideDims(tuned, tuned.matched, Likeness::SameCounts));
  CHECK(!overrideDims(tuned, dimsOf({4, 4, 1}, {16, 16, 1}), Likeness::Same));
}

TEST_CASE("no rule speaks of other blocks than the matched one") {
  for (const LaunchRule rule : {LaunchRule::Exact, LaunchRule::Cover, LaunchRule::Agnostic})
    for (const mneme_dim3 block : {mneme_dim3{32, 8, 1}, {16, 32, 1}, {256, 1, 1}})
      CHECK(!overrideDims(ruleOf(rule), dimsOf({128, 128, 1}, block), Likeness::Same));
}

TEST_CASE("cover keeps the threads in each axis") {
  const LaunchOverride tuned = ruleOf(LaunchRule::Cover);
  CHECK(overrideDims(tuned, dimsOf({10, 3, 1}, {16, 16, 1}), Likeness::SameCounts) ==
        dimsOf({5, 6, 1}, {32, 8, 1}));
  CHECK(overrideDims(tuned, dimsOf({10, 3, 5}, {16, 16, 1}), Likeness::SameCounts) ==
        dimsOf({5, 6, 5}, {32, 8, 1}));
  // Another size: the same threads may have other work.
  CHECK(!overrideDims(tuned, dimsOf({10, 3, 1}, {16, 16, 1}), Likeness::SameShared));
  // 9 * 16 threads in x are not a multiple of 32.
  CHECK(!overrideDims(tuned, dimsOf({9, 3, 1}, {16, 16, 1}), Likeness::SameCounts));
}

TEST_CASE("cover changes no axis along which a single block was matched and several are launched") {
  LaunchOverride tuned = ruleOf(LaunchRule::Cover);
  tuned.matched.grid.y = 1;
  tuned.tuned.grid.y = 2;
  CHECK(overrideDims(tuned, dimsOf({10, 1, 1}, {16, 16, 1}), Likeness::SameCounts) ==
        dimsOf({5, 2, 1}, {32, 8, 1}));
  CHECK(!overrideDims(tuned, dimsOf({10, 2, 1}, {16, 16, 1}), Likeness::SameCounts));
}

TEST_CASE("cover gives way when the grid leaves what devices take") {
  LaunchOverride tuned{.rule = LaunchRule::Cover,
                       .matched = {{2, 2, 1}, {1, 16, 1}},
                       .tuned = {{2, 32, 1}, {1, 1, 1}}};
  CHECK(!overrideDims(tuned, dimsOf({1, 65535, 1}, {1, 16, 1}), Likeness::SameCounts));
  tuned.matched = {{2, 1, 1}, {1024, 1, 1}};
  CHECK(!overrideDims(tuned, dimsOf({0x7fffffff, 1, 1}, {1024, 1, 1}), Likeness::SameCounts));
  CHECK(overrideDims(tuned, dimsOf({0x7fffffff / 1024, 1, 1}, {1024, 1, 1}),
                     Likeness::SameCounts) == dimsOf({0x7fffffff / 1024 * 1024, 1, 1}, {1, 1, 1}));
}

TEST_CASE("agnostic scales the tuned grid by the threads launched") {
  const LaunchOverride tuned{.rule = LaunchRule::Agnostic,
                             .matched = {{1000, 1, 1}, {256, 1, 1}},
                             .tuned = {{500, 2, 1}, {128, 1, 1}}};
  CHECK(overrideDims(tuned, dimsOf({3000, 1, 1}, {256, 1, 1}), Likeness::SameCounts) ==
        dimsOf({1500, 2, 1}, {128, 1, 1}));
  // Rounded up, one block at least.
  CHECK(overrideDims(tuned, dimsOf({3, 1, 1}, {256, 1, 1}), Likeness::SameCounts) ==
        dimsOf({2, 2, 1}, {128, 1, 1}));
  CHECK(overrideDims(tuned, dimsOf({1, 1, 1}, {256, 1, 1}), Likeness::Same) ==
        dimsOf({1, 2, 1}, {128, 1, 1}));
}

TEST_CASE("agnostic is for the matched counts, and keeps the grid in y and z") {
  const LaunchOverride tuned{.rule = LaunchRule::Agnostic,
                             .matched = {{64, 1, 1}, {256, 1, 1}},
                             .tuned = {{32, 1, 1}, {128, 1, 1}}};
  CHECK(overrideDims(tuned, dimsOf({64, 1, 1}, {256, 1, 1}), Likeness::SameCounts) ==
        dimsOf({32, 1, 1}, {128, 1, 1}));
  CHECK(!overrideDims(tuned, dimsOf({64, 1, 1}, {256, 1, 1}), Likeness::SameShared));
  CHECK(!overrideDims(tuned, dimsOf({64, 4, 1}, {256, 1, 1}), Likeness::Same));
  CHECK(!overrideDims(tuned, dimsOf({64, 1, 4}, {256, 1, 1}), Likeness::Same));
}

TEST_CASE("agnostic stays below the largest grid") {
  const LaunchOverride tuned{.rule = LaunchRule::Agnostic,
                             .matched = {{1, 1, 1}, {1, 1, 1}},
                             .tuned = {{0x7fffffff, 1, 1}, {1024, 1, 1}}};
  CHECK(overrideDims(tuned, dimsOf({0x7fffffff, 1, 1}, {1, 1, 1}), Likeness::SameCounts) ==
        dimsOf({0x7fffffff, 1, 1}, {1024, 1, 1}));
}

TEST_CASE("impossible launches and impossible tuned dimensions stay as they are") {
  LaunchOverride tuned = ruleOf(LaunchRule::Agnostic);
  CHECK(!overrideDims(tuned, dimsOf({0, 1, 1}, {16, 16, 1}), Likeness::Same));
  CHECK(!overrideDims(tuned, dimsOf({1, 1, 1}, {32, 33, 1}), Likeness::Same));
  CHECK(!overrideDims(tuned, dimsOf({0xffffffff, 0xffffffff, 0xffffffff}, {1, 1, 1}),
                      Likeness::Same));
  tuned.tuned.block = {1, 1, 65};
  CHECK(!overrideDims(tuned, tuned.matched, Likeness::Same));
  tuned.tuned = {{1, 1, 1}, {0, 1, 1}};
  CHECK(!overrideDims(tuned, tuned.matched, Likeness::Same));
}

TEST_CASE("more threads than can be counted have no number") {
  CHECK(volume({0xffffffff, 0xffffffff, 1}) == 0xffffffffull * 0xffffffffull);
  CHECK(!volume({0xffffffff, 0xffffffff, 0xffffffff}));
  CHECK(!threadsOf(dimsOf({0xffffffff, 0xffffffff, 1}, {2, 1, 1})));
  CHECK(threadsOf(dimsOf({7, 2, 1}, {3, 1, 2})) == 84);
}
