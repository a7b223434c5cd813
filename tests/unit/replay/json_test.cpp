#include <doctest/doctest.h>
#include <limits>

#include "runtime/core/base/error.h"
#include "runtime/replay/build.h"
#include "runtime/replay/replay.h"

using namespace mneme;
using namespace mneme::replay;

namespace {

ErrorCode refusal(const std::string& json) {
  try {
    configurationFromJson(json);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Ok;
}

} // namespace

TEST_CASE("a configuration keeps the documented order of its fields") {
  Configuration configuration;
  configuration.maxThreads = 1024;
  configuration.minBlocksPerSm = 1;
  CHECK(toJson(configuration) ==
        R"({"grid":{"x":1,"y":1,"z":1},"block":{"x":1,"y":1,"z":1},"shared_mem":0,)"
        R"("specialize":false,"set_launch_bounds":false,"max_threads":1024,"min_blocks_per_sm":1,)"
        R"("specialize_dims":false,"passes":"default<O3>","codegen_opt":3,"prune":true,)"
        R"("internalize":true})");
}

TEST_CASE("a configuration survives the way to JSON and back") {
  Configuration configuration;
  configuration.grid = {3, 2, 1};
  configuration.block = {32, 4, 2};
  configuration.sharedBytes = 1 << 16;
  configuration.passes = "function(sroa,\"x\")";
  configuration.specialize = configuration.specializeDims = true;
  configuration.codegenOpt = 1;
  configuration.prune = false;
  CHECK(toJson(configurationFromJson(toJson(configuration))) == toJson(configuration));
}

TEST_CASE("a configuration ignores codegen_method and refuses what it does not know") {
  const std::string head = R"({"grid":{"x":1,"y":1,"z":1},"block":{"x":1,"y":1,"z":1})";
  CHECK(refusal(head + R"(,"codegen_method":"serial"})") == ErrorCode::Ok);
  CHECK(refusal(head + R"(,"blocks":3})") == ErrorCode::InvalidArgument);
  CHECK(refusal(head + R"(,"specialize":"yes"})") == ErrorCode::InvalidArgument);
  CHECK(refusal(head + R"(,"max_threads":-1})") == ErrorCode::InvalidArgument);
  CHECK(refusal(head + R"(,"max_threads":4294967296})") == ErrorCode::InvalidArgument);
  CHECK(refusal(R"({"grid":{"x":1,"y":1,"z":1}})") == ErrorCode::InvalidArgument);
  CHECK(refusal(R"({"grid":{"w":1},"block":{}})") == ErrorCode::InvalidArgument);
  CHECK(refusal("[]") == ErrorCode::InvalidArgument);
  CHECK(refusal("{") == ErrorCode::InvalidArgument);
}

TEST_CASE("options name tolerances as text or as objects") {
  const Options options = optionsFromJson(
      R"({"iterations":7,"warmup":0,"timeout":2.5,"want_ir":true,"use_cache":false,)"
      R"("tolerances":["out=f32:rel:1e-5",{"type":"f64","kind":"ulp","threshold":4,"nan":"never"}]})");
  CHECK(options.iterations == 7);
  CHECK(options.warmup == 0);
  CHECK(options.timeoutSeconds == 2.5);
  CHECK(options.wantIr);
  CHECK_FALSE(options.useCache);
  REQUIRE(options.tolerances.size() == 2);
  CHECK(toText(options.tolerances[0]) == "out=f32:rel:1e-05");
  CHECK(toText(options.tolerances[1]) == "f64:ulp:4:nan-never");
  CHECK_THROWS_AS(optionsFromJson(R"({"timeout":-1})"), Error);
  CHECK_THROWS_AS(optionsFromJson(R"({"iterate":1})"), Error);
}

TEST_CASE("options say how to measure") {
  const Options options = optionsFromJson(
      R"({"cold_cache":true,"confidence":0.02,"min_iterations":9,"max_iterations":90,)"
      R"("time_budget":1.5,"stop_above_ns":123456,"timeout":null,"classify_wrong":false})");
  CHECK_FALSE(options.classifyWrong);
  CHECK(options.coldCache);
  CHECK(options.confidence == 0.02);
  CHECK(options.minIterations == 9);
  CHECK(options.maxIterations == 90);
  CHECK(options.timeBudgetSeconds == 1.5);
  CHECK(options.stopAboveNs == 123456);
  CHECK(options.timeoutSeconds == 0);
  CHECK_THROWS_AS(optionsFromJson(R"({"confidence":-0.1})"), Error);
  CHECK_THROWS_AS(optionsFromJson(R"({"time_budget":"1"})"), Error);
  CHECK_THROWS_AS(optionsFromJson(R"({"stop_above_ns":1.5})"), Error);
}

TEST_CASE("a result is valid JSON whatever it holds") {
  Result result;
  result.error = "bad byte \xff";
  result.maxAbsolute = std::numeric_limits<double>::infinity();
  result.execNs = {1, 2};
  result.spillBytes = result.sharedBytes = 0; // null if unknown
  result.mismatches.push_back({.region = "argument 'out'", .address = 16});
  const std::string json = toJson(result);
  CHECK(json.starts_with(R"({"preprocess_ir_time":0.0,"opt_time":0.0,"codegen_time":0.0,)"
                         R"("obj_size":0,"exec_time":[1,2],"verified":false,"executed":false,)"));
  CHECK(json.find("null") == std::string::npos);
  CHECK(json.find(R"("result_class":"failed")") != std::string::npos);
}

TEST_CASE("what the compiler says of spilled registers is in the result") {
  Result result;
  readStatistics(R"({"reg_usage":255,"spill_store_bytes":8,"spill_load_bytes":16})", result);
  CHECK(result.spillBytes == 24);
  readStatistics(R"({"reg_usage":128,"vgpr_spill_count":3})", result);
  CHECK(result.spillBytes == 12);
  CHECK(toJson(result).find(R"("spill_bytes":12,"shared_mem_usage":null)") != std::string::npos);
  Result unknown;
  readStatistics(R"({"reg_usage":0,"spill_store_bytes":0,"spill_load_bytes":0})", unknown);
  CHECK_FALSE(unknown.spillBytes);
}
