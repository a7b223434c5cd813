#include <doctest/doctest.h>

#include "runtime/replay/build_licence.h"
#include "runtime/replay/replay.h"

namespace replay = mneme::replay;

namespace {

replay::Result differing(double relative, const char* type = "f32") {
  replay::Result result;
  result.resultClass = replay::ResultClass::Wrong;
  result.maxUlp = 7;
  result.maxRelative = relative;
  result.suggestion = "out=f32:rel:4e-06";
  result.mismatches.push_back({.region = "argument 'out'", .dataType = type});
  return result;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

const char kFast[] = R"({"fast_math":true,"fp_contract":"fast","opt_level":"2"})";

} // namespace

TEST_CASE("small differences in fast code are rounding, and the verdict says what accepts them") {
  const replay::BuildLicence licence = replay::licenceOf(kFast);
  REQUIRE(replay::mayBeRounding(licence, differing(1e-6)));
  const std::string said = replay::explainWrong(licence, differing(1e-6), "default<O3>");
  CHECK(contains(said, "up to 7 ULP"));
  CHECK(contains(said, "-ffast-math"));
  CHECK(contains(said, "--tolerance out=f32:rel:4e-06 accepts it"));
  CHECK(contains(said, "own pipeline is default<O2>"));
  CHECK_FALSE(
      contains(replay::explainWrong(licence, differing(1e-6), "default<O2>"), "pipeline is"));
}

TEST_CASE("other differences, and those in code that allows none, are no rounding") {
  const replay::BuildLicence fast = replay::licenceOf(kFast);
  CHECK_FALSE(replay::mayBeRounding(fast, differing(0.5)));
  CHECK_FALSE(replay::mayBeRounding(fast, differing(1e-6, "u32")));
  CHECK(replay::explainWrong(fast, differing(0.5), "default<O3>").empty());
  const replay::BuildLicence strict = replay::licenceOf(R"({"fp_contract":"off"})");
  CHECK_FALSE(replay::mayBeRounding(strict, differing(1e-6)));
  CHECK(replay::explainWrong(strict, differing(1e-6), "default<O3>").empty());
}

TEST_CASE("contraction that clang allows by itself is named") {
  const replay::BuildLicence licence = replay::licenceOf(R"({"fp_contract":"fast"})");
  CHECK(contains(replay::explainWrong(licence, differing(1e-6), "default<O3>"),
                 "-ffp-contract=fast"));
}

TEST_CASE("locals that may be unset, and options a replay does not have, are told") {
  const replay::BuildLicence licence =
      replay::licenceOf(R"({"unset_locals":true,"llvm_options":["unroll-count"]})");
  const std::string said = replay::explainWrong(licence, differing(0.5), "default<O3>");
  CHECK(contains(said, "-ftrivial-auto-var-init=zero"));
  CHECK(contains(said, "-unroll-count"));
}

TEST_CASE("records without options, and damaged ones, say nothing") {
  for (const char* text : {"", "{}", "[]", "{\"opt_level\":3,\"llvm_options\":[1]}"})
    CHECK(replay::explainWrong(replay::licenceOf(text), differing(1e-6), "default<O3>").empty());
}
