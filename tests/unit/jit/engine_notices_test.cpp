// What a run with tuned kernels says when something has no effect.
#include <doctest/doctest.h>

#include "tests/unit/jit/support.h"

using namespace mneme::jit::test;

namespace {

/// A file with one kernel "k" of one variant.
std::string fileWith(const std::string& variant) { return R"({"k": )" + variant + "}"; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("many kernels with one problem are said in two lines") {
  std::vector<std::string> names;
  std::string text = "{";
  for (int i = 0; i < 100; ++i) {
    names.push_back("k" + std::to_string(i));
    text += (i == 0 ? "\"" : ", \"") + names.back() +
            R"(": {"Mneme": {"Version": 1, "StaticHash": "000000000000000)" +
            std::to_string(i % 10) + R"(", "Variants": [{}]}})";
  }
  const Unit unit(0x1000, names);
  World world(text + "}");
  for (uintptr_t i = 0; i < 100; ++i)
    for (int again = 0; again < 2; ++again)
      CHECK(Launch(0x1000 + i).run(world.engine) == kVendorStatus);
  REQUIRE(world.warnings.size() == 1);
  CHECK(contains(world.warnings[0], "tuned kernel 'k0' is not used: its code is not the one"));
  world.engine.report();
  REQUIRE(world.warnings.size() == 2);
  CHECK(contains(world.warnings[1], "99 more: 'k1', 'k2', 'k3', ..."));
}

TEST_CASE("a kernel that was tuned for other devices only is said") {
  const Unit unit(0x1000, {"k"});
  World world(fileWith(R"({"Match": {"Arch": "sm_12"}, "Guards": ["Arch"]})"));
  for (uint32_t blocks = 1; blocks < 4; ++blocks)
    CHECK(Launch(0x1000, 1, {blocks, 1, 1}).run(world.engine) == kVendorStatus);
  REQUIRE(world.warnings.size() == 1);
  CHECK(contains(world.warnings[0], "'k' is not used on 'sm_90': the file has it for sm_12 only"));
  world.engine.report();
  CHECK(world.warnings.size() == 1);
}

TEST_CASE("a kernel whose guards no launch fulfils is said at the end") {
  const Unit unit(0x1000, {"k", "l"});
  const std::string guarded = R"({"Match": {"GridDim": {"x": 99}}, "Guards": ["Grid"]})";
  World world(R"({"k": )" + guarded + R"(, "l": )" + guarded + "}");
  for (uint32_t blocks = 1; blocks < 4; ++blocks)
    CHECK(Launch(0x1000, 1, {blocks, 1, 1}).run(world.engine) == kVendorStatus);
  CHECK(Launch(0x1001, 1, {99, 1, 1}).run(world.engine) == kTunedStatus);
  CHECK(world.warnings.empty());
  world.engine.report();
  REQUIRE(world.warnings.size() == 1);
  CHECK(contains(world.warnings[0], "tuned kernel 'k' was not used: no launch of it"));
}
