#include <doctest/doctest.h>

#include "runtime/replay/build_licence.h"
#include "runtime/replay/element_hint.h"
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
  const std::string said = replay::explainWrong(licence, differing(1e-6), "default<O3>", 2);
  CHECK(contains(said, "up to 7 ULP"));
  CHECK(contains(said, "-ffast-math"));
  CHECK(contains(said, "--tolerance out=f32:rel:4e-06 accepts it"));
  CHECK(contains(said, "own pipeline is default<O2> with -co 2"));
  CHECK_FALSE(
      contains(replay::explainWrong(licence, differing(1e-6), "default<O2>", 2), "pipeline is"));
  CHECK(contains(replay::explainWrong(licence, differing(1e-6), "default<O2>", 3), "pipeline is"));
}

TEST_CASE("large differences, and those in strict code, are not taken for rounding") {
  const replay::BuildLicence fast = replay::licenceOf(kFast);
  CHECK_FALSE(replay::mayBeRounding(fast, differing(0.5)));
  CHECK_FALSE(replay::mayBeRounding(fast, differing(1e-6, "u32")));
  CHECK(replay::explainWrong(fast, differing(0.5), "default<O2>", 2).empty());
  const replay::BuildLicence strict = replay::licenceOf(R"({"fp_contract":"off"})");
  CHECK_FALSE(replay::mayBeRounding(strict, differing(1e-6)));
  CHECK(replay::explainWrong(strict, differing(1e-6), "default<O3>", 3).empty());
}

TEST_CASE("short numbers are rounded more coarsely") {
  const replay::BuildLicence fast = replay::licenceOf(kFast);
  CHECK(replay::mayBeRounding(fast, differing(0x1p-9, "f16")));
  CHECK_FALSE(replay::mayBeRounding(fast, differing(0.05, "f16")));
  CHECK(replay::mayBeRounding(fast, differing(0x1p-7, "bf16")));
  CHECK_FALSE(replay::mayBeRounding(fast, differing(0.5, "bf16")));
  CHECK_FALSE(replay::mayBeRounding(fast, differing(0x1p-7, "f32")));
}

TEST_CASE("a kernel of a program that was not optimised is told how the program ran it") {
  const replay::BuildLicence plain = replay::licenceOf(R"({"fp_contract":"fast","opt_level":"0"})");
  const std::string said = replay::explainWrong(plain, differing(0.5), "default<O3>", 3);
  CHECK(contains(said, "own pipeline is default<O0> with -co 0"));
  const replay::BuildLicence small = replay::licenceOf(R"({"opt_level":"s"})");
  CHECK(replay::explainWrong(small, differing(0.5), "default<Os>", 2).empty());
}

TEST_CASE("contraction that clang allows by itself is named") {
  const replay::BuildLicence licence = replay::licenceOf(R"({"fp_contract":"fast"})");
  CHECK(contains(replay::explainWrong(licence, differing(1e-6), "default<O3>", 3),
                 "-ffp-contract=fast"));
}

TEST_CASE("locals that may be unset, and options a replay does not have, are told") {
  const replay::BuildLicence licence = replay::licenceOf(R"({"unset_locals":true})");
  replay::Result result = differing(0.5);
  CHECK_FALSE(contains(replay::explainWrong(licence, result, "default<O3>", 3), "other units"));
  replay::BuildLicence linked = licence;
  linked.isLinked = true;
  CHECK(contains(replay::explainWrong(linked, result, "default<O3>", 3), "other units"));
  result.refusedOptions = {"-mllvm -unroll-count=x", "-Xcuda-ptxas -c"};
  const std::string said = replay::explainWrong(licence, result, "default<O3>", 3);
  CHECK(contains(said, "without NO_AUTO_VAR_INIT and -ftrivial-auto-var-init"));
  CHECK(contains(said, "follow: -mllvm -unroll-count=x, -Xcuda-ptxas -c."));
}

TEST_CASE("what a recording does not hold is named, textures of GPUs among it") {
  std::vector<std::string> reads = {"clocks", "surfaces", "textures"};
  replay::dropRecordedReads(reads, "cuda:0");
  CHECK(contains(replay::explainReads(reads), "reads clocks, surfaces and textures, which"));
  replay::dropRecordedReads(reads, "cpu");
  CHECK(contains(replay::explainReads(reads), "reads clocks, which"));
  CHECK(replay::explainReads({}).empty());
  reads = replay::readsIn(R"({"unrecorded_reads":["launches of its own"]})");
  CHECK(replay::explainReads(reads).starts_with("The kernel launches kernels itself: "));
  CHECK_FALSE(contains(replay::explainReads(reads), "The kernel reads"));
  reads.push_back("clocks");
  CHECK(contains(replay::explainReads(reads), "The kernel reads clocks, which"));
  CHECK(replay::readsIn("[]").empty());
}

TEST_CASE("records without options, and damaged ones, say nothing") {
  for (const char* text : {"", "{}", "[]", "{\"opt_level\":3,\"llvm_options\":[1]}"})
    CHECK(replay::explainWrong(replay::licenceOf(text), differing(1e-6), "default<O3>", 3).empty());
}

TEST_CASE("a signature tells numbers of 16 bits") {
  using mneme::device::DataType;
  const char* text =
      "void ns::f<float, (int)3>(__half const*, __nv_bfloat162*, float*, S<float, half>)";
  CHECK(replay::elementHint(text, 0) == DataType::F16);
  CHECK(replay::elementHint(text, 1) == DataType::BF16);
  for (const size_t index : {2, 4, 9})
    CHECK_FALSE(replay::elementHint(text, index));
  CHECK(replay::elementHint(text, 3) == DataType::F16);
  for (const char* other : {"", "f", ")", "f(", "f()"})
    CHECK_FALSE(replay::elementHint(other, 0));
}
