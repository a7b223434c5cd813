#include <algorithm>
#include <cfenv>
#include <cmath>

#include "support.h"

using namespace test;

namespace {

const std::vector<double> kDoubles = {0.0, -0.0, 1.0, 1.0 / 3, -2.5, 1e300, -1e-310, 7e-12, 3.5};
const std::vector<float> kFloats = {0.0f, -0.0f, 1.0f, 1.0f / 3, -2.5f, 1e30f, -1e-40f, 7e-12f};

template <typename T> std::vector<T> rotated(std::vector<T> values, size_t by) {
  std::rotate(values.begin(), values.begin() + by, values.end());
  return values;
}

struct RoundingCase {
  const char* suffix;
  int mode;
};
constexpr RoundingCase kRoundings[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

/// The host's result under a rounding mode.
template <typename T, typename Function> T hostRounded(int mode, Function function, T a, T b, T c) {
  std::fesetround(mode);
  volatile T x = a;
  volatile T y = b;
  volatile T z = c;
  volatile T result = function(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}

template <typename T, typename Function>
void checkRounded(const std::string& name, unsigned operands, const std::vector<T>& values,
                  Function function) {
  for (const RoundingCase& rounding : kRoundings) {
    std::vector<std::vector<T>> inputs;
    for (unsigned index = 0; index < operands; ++index)
      inputs.push_back(rotated(values, index));
    std::string full = "llvm.nvvm." + name + "." + rounding.suffix + (sizeof(T) == 8 ? ".d" : ".f");
    auto got = callIntrinsic<T, T>(full, inputs);
    inputs.resize(3, values);
    for (size_t index = 0; index < values.size(); ++index)
      checkSame(got[index],
                hostRounded(rounding.mode, function, inputs[0][index], inputs[1][index],
                            inputs[2][index]),
                full);
  }
}

} // namespace

TEST_CASE("rounded arithmetic equals the host's under the same rounding mode") {
  checkRounded("add", 2, kDoubles, [](double a, double b, double) { return a + b; });
  checkRounded("mul", 2, kDoubles, [](double a, double b, double) { return a * b; });
  checkRounded("div", 2, kDoubles, [](double a, double b, double) { return a / b; });
  checkRounded("add", 2, kFloats, [](float a, float b, float) { return a + b; });
  checkRounded("mul", 2, kFloats, [](float a, float b, float) { return a * b; });
  checkRounded("div", 2, kFloats, [](float a, float b, float) { return a / b; });
  checkRounded("sqrt", 1, kDoubles, [](double a, double, double) { return std::sqrt(a); });
  checkRounded("rcp", 1, kFloats, [](float a, float, float) { return 1.0f / a; });
  checkRounded("fma", 3, kDoubles, [](double a, double b, double c) { return std::fma(a, b, c); });
}

TEST_CASE("fmuladd is never fused, so that results do not depend on the pipeline") {
  const std::vector<std::vector<double>> inputs = {kDoubles, rotated(kDoubles, 1),
                                                   rotated(kDoubles, 2)};
  const auto got = callIntrinsic<double, double>("llvm.fmuladd.f64", inputs);
  for (size_t index = 0; index < kDoubles.size(); ++index) {
    volatile double product = inputs[0][index] * inputs[1][index];
    checkSame(got[index], product + inputs[2][index], "llvm.fmuladd.f64");
  }
}

TEST_CASE("ftz variants flush operands and results") {
  auto got = callIntrinsic<float, float>("llvm.nvvm.add.rn.ftz.f",
                                         {{1e-40f, -1e-40f, 1.0f}, {0.0f, -0.0f, 1e-40f}});
  checkSame(got[0], 0.0f, "denormal operand");
  checkSame(got[1], -0.0f, "negative denormal operand");
  checkSame(got[2], 1.0f, "denormal beside one");
  auto product = callIntrinsic<float, float>("llvm.nvvm.mul.rn.ftz.f", {{1e-30f}, {-1e-12f}});
  checkSame(product[0], -0.0f, "denormal result");
}

TEST_CASE("denormals of plain operations follow the option") {
  const std::string body = "  %r = fmul float %a, %b";
  auto kept = evaluate<float, float>(body, {{1e-30f}, {1e-12f}});
  checkSame(kept[0], 1e-30f * 1e-12f, "kept");
  auto flushed =
      evaluate<float, float>(body, {{1e-30f}, {1e-12f}}, "", "{\"flush_denormals\": true}");
  checkSame(flushed[0], 0.0f, "flushed");
}

TEST_CASE("contraction is off whatever the flags say") {
  float a = 1.0f + 0x1p-12f;
  auto got = evaluate<float, float>(
      "  %m = fmul contract float %a, %a\n  %r = fsub contract float %m, %b", {{a}, {a}});
  volatile float product = a * a;
  checkSame(got[0], product - a, "a * a - a");
}

TEST_CASE("min and max lose NaN and order zeros") {
  float nan = std::nanf("");
  auto low = callIntrinsic<float, float>("llvm.nvvm.fmin.f",
                                         {{nan, 1.0f, 0.0f, -0.0f}, {2.0f, nan, -0.0f, 0.0f}});
  checkSame(low[0], 2.0f, "min(nan, 2)");
  checkSame(low[1], 1.0f, "min(1, nan)");
  checkSame(low[2], -0.0f, "min(0, -0)");
  checkSame(low[3], -0.0f, "min(-0, 0)");
  auto high = callIntrinsic<float, float>("llvm.nvvm.fmax.nan.f", {{nan, 0.0f}, {2.0f, -0.0f}});
  CHECK(std::isnan(high[0]));
  checkSame(high[1], 0.0f, "max(0, -0)");
}

TEST_CASE("saturate maps NaN to zero") {
  auto got =
      callIntrinsic<float, float>("llvm.nvvm.saturate.f", {{std::nanf(""), -1.0f, 0.25f, 7.0f}});
  checkSame(got[0], 0.0f, "nan");
  checkSame(got[1], 0.0f, "-1");
  checkSame(got[2], 0.25f, "0.25");
  checkSame(got[3], 1.0f, "7");
}

TEST_CASE("device math calls the host's libm") {
  const char* declaration = "define float @__nv_sinf(float %x) {\n  ret float 0.0\n}\n"
                            "define double @__nv_pow(double %x, double %y) {\n"
                            "  ret double 0.0\n}\n";
  auto sines =
      evaluate<float, float>("  %r = call float @__nv_sinf(float %a)", {kFloats}, declaration);
  for (size_t index = 0; index < kFloats.size(); ++index)
    checkSame(sines[index], std::sin(kFloats[index]), "sinf");
  auto powers = evaluate<double, double>("  %r = call double @__nv_pow(double %a, double 2.0)",
                                         {kDoubles}, declaration);
  for (size_t index = 0; index < kDoubles.size(); ++index)
    checkSame(powers[index], std::pow(kDoubles[index], 2.0), "pow");
}
