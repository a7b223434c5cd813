// What a compilation tells about itself where somebody asks: remarks, passes, loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels.h"
#include "runtime/compiler/service/disk_cache.h"

using namespace mneme;
using namespace mneme::test;
using nlohmann::json;

namespace {

// Adds four numbers to each other, at line 5 of sum.cu, and others as often as %n says.
const char* const kCode = R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @sum(ptr addrspace(1) %x, i32 %n) !dbg !4 {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ], !dbg !6
  %s = phi float [ 0.0, %entry ], [ %t, %loop ], !dbg !6
  %at = getelementptr float, ptr addrspace(1) %x, i32 %i, !dbg !6
  %v = load float, ptr addrspace(1) %at, !dbg !6
  %p = fmul float %v, %v, !dbg !6
  %t = fadd float %s, %p, !dbg !6
  %next = add nuw nsw i32 %i, 1, !dbg !6
  %more = icmp ult i32 %next, 4, !dbg !6
  br i1 %more, label %loop, label %head, !dbg !6
head:
  br label %other
other:
  %j = phi i32 [ 0, %head ], [ %k, %other ]
  %k = add i32 %j, 1
  %f = call float @llvm.fmuladd.f32(float %t, float %t, float 1.0)
  %g = call float @llvm.nvvm.fmax.f(float %f, float 0.0)
  store volatile float %g, ptr addrspace(1) %x
  %again = icmp ult i32 %k, %n
  br i1 %again, label %other, label %end
end:
  ret void
}
declare float @llvm.fmuladd.f32(float, float, float)
declare float @llvm.nvvm.fmax.f(float, float)
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "sum.cu", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DISubroutineType(types: !{})
!4 = distinct !DISubprogram(name: "sum", file: !1, line: 3, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DILocation(line: 5, column: 7, scope: !4)
)";

compile::Result compiled(const std::string& passes, bool wantReasons = true) {
  compile::Request request;
  request.modules = {bytesOf(kCode)};
  request.kernel = "sum";
  request.target = "sm_90";
  request.passes = passes;
  request.wantIr = true;
  request.wantReasons = wantReasons;
  return compile::compile(request);
}

json reasonsOf(const std::string& passes) {
  return json::parse(compiled(passes).statisticsJson)["reasons"];
}

json named(const json& all, const std::string& key, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const json& one) { return one[key] == name; });
  return found == all.end() ? json() : *found;
}

} // namespace

TEST_CASE("reasons are told only where somebody asks") {
  const json statistics = json::parse(compiled("default<O3>", false).statisticsJson);
  CHECK(statistics.find("reasons") == statistics.end());
  CHECK(statistics.find("emit_time") == statistics.end());
}

TEST_CASE("asking does not change the code") {
  for (const std::string passes : {"default<O3>", "default<Os>", ""}) {
    const compile::Result told = compiled(passes), plain = compiled(passes, false);
    CHECK(told.ir == plain.ir);
    CHECK(told.image == plain.image);
  }
}

TEST_CASE("remarks say what was done, by which pass and where") {
  const json remark = named(reasonsOf("default<O3>")["remarks"], "name", "FullyUnrolled");
  REQUIRE_FALSE(remark.is_null());
  CHECK(remark["kind"] == "passed");
  CHECK(remark["pass"] == "loop-unroll");
  CHECK(remark["function"] == "sum");
  CHECK(remark["file"] == "sum.cu");
  CHECK(remark["line"] == 5);
  CHECK(contains(remark["message"].get<std::string>(), "4 iterations"));
  CHECK(remark["count"] >= 1);
}

TEST_CASE("passes have runs, changes and times, analyses apart") {
  const json passes = reasonsOf("function(loop(loop-unroll-full))")["passes"];
  const json unrolling = named(passes, "name", "loop-unroll-full");
  CHECK(unrolling["runs"] >= 2);
  CHECK(unrolling["changes"] >= 1);
  CHECK(unrolling["seconds"] >= 0);
  CHECK(unrolling["is_analysis"] == false);
  CHECK(std::any_of(passes.begin(), passes.end(),
                    [](const json& one) { return one["is_analysis"] == true; }));
}

TEST_CASE("loops have counts and work") {
  const json loops = reasonsOf("function(instcombine)")["loops"];
  REQUIRE(loops.size() == 2);
  CHECK(loops[0]["line"] == 5);
  CHECK(loops[0]["trip_count"] == 4);
  CHECK(loops[0]["load_bytes"] == 4);
  CHECK(loops[0]["flops"] == 2);
  CHECK(loops[0]["depth"] == 1);
  CHECK(loops[1]["trip_count"] == 0);
  CHECK(loops[1]["store_bytes"] == 4);
  CHECK(loops[1]["flops"] == 2); // a maximum is none
  CHECK(contains(loops[1]["backedges"].get<std::string>(), "%n"));
  const json optimized = reasonsOf("default<O3>")["loops"];
  CHECK(std::none_of(optimized.begin(), optimized.end(),
                     [](const json& one) { return one["trip_count"] == 4; }));
}

TEST_CASE("a stored result without reasons is none with them") {
  compile::Request request;
  const Hash128 plain = compile::cacheKey(request, "library");
  request.wantReasons = true;
  CHECK(compile::cacheKey(request, "library") != plain);
}
