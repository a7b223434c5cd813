// The type of a region and what accepts a difference: the same for every binary of a kernel.
#include <doctest/doctest.h>

#include "tests/unit/replay/kernels.h"
#include "tests/unit/replay/recording_maker.h"

using namespace mneme;
using namespace mneme::test;
using replay::ResultClass;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// out[i] += in[i] in doubles, but by the value of `by`; the last bits of the lower words are what
/// small integers and floats would be.
std::string addDouble(const std::string& by = "1.0") {
  return kHead + R"(
define ptx_kernel void @addDouble(ptr %out) {
  %i = call i64 @globalId()
  %to = getelementptr inbounds double, ptr %out, i64 %i
  %x = load double, ptr %to, align 8
  %y = fadd double %x, )" +
         by + R"(
  store double %y, ptr %to, align 8
  ret void
}
)";
}

/// A few elements, neither zeros nor small numbers: no guess could tell their type.
RecordingPlan doublesPlan() {
  const std::vector<double> before = {0, 0, 1e300, 0x1.8p-1000};
  std::vector<double> after = before;
  for (double& value : after)
    value += 1;
  RecordingPlan plan{.kernel = "addDouble", .ir = addDouble()};
  plan.addRegion(kScaleOut, bytesOf(before), bytesOf(after));
  plan.addPointer("out", kScaleOut);
  plan.block = {4, 1, 1};
  plan.grid = {1, 1, 1};
  return plan;
}

const char* const kAtomicDouble = R"(
define ptx_kernel void @atomicSum(ptr %in, ptr %sum) {
  %i = call i64 @globalId()
  %from = getelementptr inbounds double, ptr %in, i64 %i
  %x = load double, ptr %from, align 8
  %old = atomicrmw fadd ptr %sum, double %x monotonic, align 8
  ret void
}
)";

RecordingPlan sumPlan(double expected) {
  const std::vector<double> in(64, 1.0);
  RecordingPlan plan{.kernel = "atomicSum", .ir = kHead + kAtomicDouble};
  plan.addRegion(kScaleIn, bytesOf(in), bytesOf(in));
  plan.addRegion(kScaleOut, bytesOfOne(0.0), bytesOfOne(expected));
  plan.addPointer("in", kScaleIn);
  plan.addPointer("sum", kScaleOut);
  plan.block = {64, 1, 1};
  plan.grid = {1, 1, 1};
  return plan;
}

} // namespace

TEST_CASE("one unit in the last place is a class of its own, and says what accepts it") {
  const RecordingPlan plan = doublesPlan();
  CHECK(replayOnce(plan).resultClass == ResultClass::Exact);
  const std::string ir = addDouble("0x3FF0000000000001");
  const replay::Result result = replayOnce(plan, ir);
  CHECK(result.resultClass == ResultClass::FewUlp);
  CHECK_FALSE(result.verified);
  CHECK(result.maxUlp == 1);
  CHECK(result.suggestion == "out=f64:ulp:1");
  CHECK(
      result.note ==
      "Only floating-point numbers differ, by up to 1 ULP: --tolerance out=f64:ulp:1 accepts it.");
  REQUIRE(result.mismatches.size() == 1);
  CHECK(result.mismatches[0].dataType == "f64");
  CHECK(contains(replay::toJson(result), R"("result_class":"few_ulp")"));
  const replay::Result accepted =
      replayOnce(plan, ir, {.tolerances = {replay::parseToleranceRule(result.suggestion)}});
  CHECK(accepted.resultClass == ResultClass::WithinTolerance);
}

TEST_CASE("what is a few units off is measured as if it were right") {
  const replay::Result result = replayOnce(doublesPlan(), addDouble("0x3FF0000000000001"),
                                           {.iterations = 9, .classifyWrong = false});
  CHECK(result.resultClass == ResultClass::FewUlp);
  CHECK(result.iterationsUsed == 9);
}

TEST_CASE("the type of a region is the same whatever a binary leaves there") {
  for (const char* by : {"1.5", "1.0e200", "0x7FF8000000000000"}) {
    const replay::Result result = replayOnce(doublesPlan(), addDouble(by));
    CAPTURE(by);
    CHECK(result.resultClass == ResultClass::Wrong);
    REQUIRE(result.mismatches.size() == 1);
    CHECK(result.mismatches[0].dataType == "f64");
    CHECK(result.mismatches[0].elements == 4);
  }
}

TEST_CASE("integers that differ by one are wrong") {
  const std::string ir = kHead + R"(
define ptx_kernel void @count(ptr %out) {
  %i = call i64 @globalId()
  %to = getelementptr inbounds i32, ptr %out, i64 %i
  %x = load i32, ptr %to, align 4
  %y = add i32 %x, 1
  store i32 %y, ptr %to, align 4
  ret void
}
)";
  // Numbers that could be floats.
  const std::vector<uint32_t> before = {0x3f800000, 0x40000000}, after = {0x3f800001, 0x40000001};
  RecordingPlan plan{.kernel = "count", .ir = ir};
  plan.addRegion(kScaleOut, bytesOf(before), bytesOf(after));
  plan.addPointer("out", kScaleOut);
  plan.block = {2, 1, 1};
  plan.grid = {1, 1, 1};
  CHECK(replayOnce(plan).resultClass == ResultClass::Exact);
  const replay::Result result = replayOnce(plan, edited(ir, "add i32 %x, 1", "add i32 %x, 2"));
  CHECK(result.resultClass == ResultClass::Wrong);
  CHECK(result.suggestion.empty());
  CHECK(result.mismatches.at(0).dataType == "u32");
}

TEST_CASE("sums by atomics are said to depend on their order, though no replay shows it") {
  const replay::Result result = replayOnce(sumPlan(64 * (1 + 1.2e-6)));
  CHECK(result.resultClass == ResultClass::Nondeterministic);
  CHECK(contains(result.note, "The kernel adds up floating-point numbers by atomics"));
  CHECK(contains(result.note, "--tolerance sum=f64:rel:5e-06 accepts it"));
  CHECK_FALSE(contains(result.note, "fp-contract"));
  CHECK(result.suggestion == "sum=f64:rel:5e-06"); // as people write it
}

TEST_CASE("sums by atomics that are far off are wrong") {
  const replay::Result result = replayOnce(sumPlan(65));
  CHECK(result.resultClass == ResultClass::Wrong);
  CHECK(result.suggestion.empty());
}
