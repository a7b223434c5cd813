// `mneme-opt-bisect<INTERVALS>`: which runs of passes a pipeline has, and what is told of them.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "kernels.h"

using namespace mneme;
using namespace mneme::test;

namespace {

// Adds to memory what a second function and a constant give: work for several passes.
const char* const kCode = R"(
target triple = "nvptx64-nvidia-cuda"
define internal i32 @two() {
  %cell = alloca i32
  store i32 2, ptr %cell
  %value = load i32, ptr %cell
  ret i32 %value
}
define ptx_kernel void @sum(ptr %x) {
  %cell = alloca i32
  %value = call i32 @two()
  store i32 %value, ptr %cell
  %a = load i32, ptr %cell
  store i32 %a, ptr %x
  ret void
})";

compile::Result compiled(const std::string& passes) {
  compile::Request request;
  request.modules = {bytesOf(kCode)};
  request.kernel = "sum";
  request.target = "sm_90";
  request.passes = passes;
  request.wantIr = true;
  return compile::compile(request);
}

nlohmann::json runsOf(const std::string& passes) {
  return nlohmann::json::parse(compiled(passes).statisticsJson)["pass_runs"];
}

} // namespace

TEST_CASE("without the name in the pipeline nothing is told") {
  CHECK(runsOf("default<O3>").is_null());
}

TEST_CASE("the last and the next run are named") {
  const nlohmann::json runs = runsOf("mneme-opt-bisect<1-1>,function(sroa)");
  CHECK(runs["count"] == 2);
  CHECK(runs["ran"] == 1);
  CHECK(runs["last"] == "sroa on function two");
  CHECK(runs["next"] == "sroa on function sum");
  CHECK(runsOf("mneme-opt-bisect<1-99>,cgscc(inline)")["last"].get<std::string>().starts_with(
      "inline on functions "));
  CHECK(runsOf("mneme-opt-bisect<1-99>,globaldce")["last"] == "globaldce on the module");
}

TEST_CASE("only the runs in the intervals happen") {
  const auto allocas = [](const std::string& passes) {
    const std::string ir = compiled(passes).ir;
    return std::pair(contains(ir.substr(ir.find("@two")), "alloca"),
                     contains(ir.substr(ir.find("ptx_kernel")), "alloca"));
  };
  const std::string rest = ",function(sroa)";
  CHECK(allocas("mneme-opt-bisect<0>" + rest) == std::pair(true, true));
  CHECK(contains(compiled("mneme-opt-bisect<2>" + rest).ir, "alloca"));
  CHECK(runsOf("mneme-opt-bisect<2>" + rest)["ran"] == 1);
  CHECK(runsOf("mneme-opt-bisect<1;2-3>" + rest)["ran"] == 2);
  CHECK_FALSE(contains(compiled("mneme-opt-bisect<1-2>" + rest).ir, "alloca"));
}

TEST_CASE("all runs give the code of the pipeline alone") {
  for (const std::string passes : {"default<O3>", "default<O1>", "function(sroa,instcombine)"})
    CHECK(compiled("mneme-opt-bisect<1-4294967295>," + passes).ir == compiled(passes).ir);
}

TEST_CASE("no runs leave the code as it was, and it can be compiled") {
  CHECK(contains(compiled("mneme-opt-bisect<0>,default<O3>").ir, "alloca"));
}

TEST_CASE("intervals that are none are refused") {
  for (const std::string text : {"", "<>", "<x>", "<3-1>", "<1-2,4>", "<-1>", "<1-2"})
    CHECK_THROWS_AS(compiled("mneme-opt-bisect" + text + ",default<O3>"), Error);
}
