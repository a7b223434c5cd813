#include <cmath>
#include <limits>

#include "support.h"

using namespace test;

namespace {

constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();

template <typename Out, typename In>
void checkConversion(const std::string& name, std::vector<In> inputs, std::vector<Out> expected) {
  auto got = callIntrinsic<Out, In>("llvm.nvvm." + name, {inputs});
  for (size_t index = 0; index < inputs.size(); ++index)
    checkSame(got[index], expected[index], name + " of " + std::to_string(inputs[index]));
}

} // namespace

TEST_CASE("float to integer rounds as told and saturates") {
  std::vector<float> values = {1.5f, -1.5f, 2.5f, 1e20f, -1e20f, std::nanf("")};
  checkConversion<int32_t>("f2i.rn", values, {2, -2, 2, kMax32, kMin32, 0});
  checkConversion<int32_t>("f2i.rz", values, {1, -1, 2, kMax32, kMin32, 0});
  checkConversion<int32_t>("f2i.rm", values, {1, -2, 2, kMax32, kMin32, 0});
  checkConversion<int32_t>("f2i.rp", values, {2, -1, 3, kMax32, kMin32, 0});
  checkConversion<uint32_t>("f2ui.rz", values, {1, 0, 2, ~0u, 0, 0});
  checkConversion<int64_t>("f2ll.rz", values, {1, -1, 2, kMax64, kMin64, kMin64});
}

TEST_CASE("double to integer gives the lowest number for NaN") {
  std::vector<double> values = {-0.5, 4294967295.5, -1e30, std::nan("")};
  checkConversion<int32_t>("d2i.rz", values, {0, kMax32, kMin32, kMin32});
  checkConversion<uint32_t>("d2ui.rn", values, {0, ~0u, 0, 0x80000000u});
  checkConversion<int64_t>("d2ll.rm", values, {-1, 4294967295, kMin64, kMin64});
}

TEST_CASE("casts of the language saturate as on the device") {
  auto got = evaluate<int32_t, float>("  %r = fptosi float %a to i32",
                                      {{3e9f, -3e9f, std::nanf(""), 7.9f}});
  CHECK(got == std::vector<int32_t>{kMax32, kMin32, 0, 7});
}

TEST_CASE("integer to float honours the rounding mode") {
  std::vector<int32_t> values = {16777217, -16777217, 0};
  checkConversion<float>("i2f.rn", values, {16777216.0f, -16777216.0f, 0.0f});
  checkConversion<float>("i2f.rp", values, {16777218.0f, -16777216.0f, 0.0f});
  checkConversion<float>("i2f.rm", values, {16777216.0f, -16777218.0f, 0.0f});
  std::vector<uint64_t> wide = {~uint64_t(0), uint64_t(1) << 60, 0};
  checkConversion<float>("ull2f.rz", wide, {0x1.fffffep63f, 0x1p60f, 0.0f});
  checkConversion<double>("ull2d.rm", wide, {0x1.fffffffffffffp63, 0x1p60, 0.0});
}

TEST_CASE("double to float honours the rounding mode") {
  std::vector<double> values = {0.1, -0.1};
  checkConversion<float>("d2f.rn", values, {0.1f, -0.1f});
  checkConversion<float>("d2f.rz", values,
                         {std::nextafter(0.1f, 0.0f), -std::nextafter(0.1f, 0.0f)});
  checkConversion<float>("d2f.rp", values, {0.1f, -std::nextafter(0.1f, 0.0f)});
}

TEST_CASE("half and bfloat round to nearest even, from double in one step") {
  auto half = callIntrinsic<uint16_t, float>("llvm.nvvm.f2h.rn", {{1.0f, 65520.0f, 0x1p-25f}});
  CHECK(half == std::vector<uint16_t>{0x3c00, 0x7c00, 0});
  // Halfway between two halves plus a little that a float in between would lose.
  auto once =
      evaluate<uint16_t, double>("  %h = fptrunc double %a to half\n  %r = bitcast half %h to i16",
                                 {{1.0 + 0x1p-11 + 0x1p-40}});
  CHECK(once[0] == 0x3c01);
  auto bfloat = evaluate<uint16_t, float>(
      "  %h = fptrunc float %a to bfloat\n  %r = bitcast bfloat %h to i16",
      {{1.0f, 1.00390625f, 1.01171875f, 3.4e38f}});
  CHECK(bfloat == std::vector<uint16_t>{0x3f80, 0x3f80, 0x3f82, 0x7f80});
}

TEST_CASE("TF32 keeps ten bits of the mantissa") {
  const std::vector<uint32_t> values = {0x3f801000, 0x3f800fff, 0xbf803000, 0x7f800000,
                                        0x7f800001, 0x7f7fffff, 0x80000001};
  const auto convert = [&](const std::string& how) {
    return evaluate<uint32_t, uint32_t>(
        "  %r = call i32 asm \"cvt." + how + ".tf32.f32 $0, $1;\", \"=r,r\"(i32 %a)", {values});
  };
  CHECK(convert("rna") == std::vector<uint32_t>{0x3f802000, 0x3f800000, 0xbf804000, 0x7f800000,
                                                0x7fffffff, 0x7f800000, 0x80000000});
  CHECK(convert("rn") == std::vector<uint32_t>{0x3f800000, 0x3f800000, 0xbf804000, 0x7f800000,
                                               0x7fffffff, 0x7f800000, 0x80000000});
  CHECK(convert("rz") == std::vector<uint32_t>{0x3f800000, 0x3f800000, 0xbf802000, 0x7f800000,
                                               0x7fffffff, 0x7f7fe000, 0x80000000});
  CHECK(convert("rn.satfinite")[3] == 0x7f7fe000);
  CHECK(convert("rn.relu")[2] == 0);
}

TEST_CASE("words of a double") {
  checkConversion<int32_t>("d2i.hi", std::vector<double>{1.0}, {0x3ff00000});
  checkConversion<int32_t>("d2i.lo", std::vector<double>{0x1.00000deadbeefp0},
                           {int32_t(0xdeadbeef)});
}
