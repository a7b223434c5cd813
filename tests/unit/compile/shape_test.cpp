// What a kernel's loops, branches and loads hang on, and what is left of them in its code.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <algorithm>

#include "kernels.h"

using namespace mneme;
using namespace mneme::test;
using nlohmann::json;

namespace {

// if (thread < n) for (i = 0; i < taps; ++i) { if (mode) sum += w[i] * x[thread + i]; ... }
// The loop over `begin[thread]` rows is never known.
const char* const kKernel = R"(
target triple = "nvptx64-nvidia-cuda"
%struct.S = type { float, i32 }
define ptx_kernel void @sum(ptr %x, ptr %y, ptr %w, i32 %n, i32 %taps, i32 %mode,
                            ptr byval(%struct.S) align 4 %s, ptr %begin) {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp slt i32 %thread, %n
  br i1 %inside, label %loop, label %done
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %after ]
  %sum = phi float [ 0.0, %entry ], [ %added, %after ]
  %more = icmp slt i32 %i, %taps
  br i1 %more, label %body, label %threads
body:
  %isOn = icmp ne i32 %mode, 0
  br i1 %isOn, label %then, label %after
then:
  %pw = getelementptr inbounds float, ptr %w, i32 %i
  %weight = load float, ptr %pw
  %at = add i32 %thread, %i
  %px = getelementptr inbounds float, ptr %x, i32 %at
  store volatile float %weight, ptr %px
  br label %after
after:
  %added = phi float [ %sum, %body ], [ %weight, %then ]
  %next = add nsw i32 %i, 1
  br label %loop
threads:
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %pcount = getelementptr inbounds %struct.S, ptr %s, i32 0, i32 1
  %count = load i32, ptr %pcount
  %bound = mul i32 %width, %count
  br label %second
second:
  %j = phi i32 [ 0, %threads ], [ %j.next, %second ]
  store volatile i32 %j, ptr %y
  %j.next = add nsw i32 %j, 1
  %j.more = icmp slt i32 %j.next, %bound
  br i1 %j.more, label %second, label %rows
rows:
  %pb = getelementptr inbounds i32, ptr %begin, i32 %thread
  %last = load i32, ptr %pb
  br label %third
third:
  %k = phi i32 [ 0, %rows ], [ %k.next, %third ]
  store volatile i32 %k, ptr %y
  %k.next = add nsw i32 %k, 1
  %k.more = icmp slt i32 %k.next, %last
  br i1 %k.more, label %third, label %done
done:
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
)";

json statistics(const std::vector<ArgValue>& values = {}, const char* target = "sm_90") {
  compile::Request request;
  request.modules = {bytesOf(kKernel)};
  request.kernel = "sum";
  request.target = target;
  request.wantShape = true;
  request.specializedArgs = values;
  return json::parse(compile::compile(request).statisticsJson);
}

/// Counts the loops, branches or loads that need exactly this.
size_t needing(const json& things, const std::vector<unsigned>& args, bool block = false,
               const std::vector<unsigned>& contents = {}) {
  size_t count = 0;
  for (const json& one : things)
    count += one["args"] == args && one["block"] == block && one["contents"] == contents &&
             !one["varies"].get<bool>();
  return count;
}

} // namespace

TEST_CASE("loops, branches and loads are known by what they hang on") {
  const json shape = statistics()["shape"];
  CHECK(shape["loops"].size() == 3);
  CHECK(needing(shape["loops"], {4}) == 1);
  CHECK(needing(shape["loops"], {}, /*block=*/true) == 1);
  CHECK(std::ranges::any_of(shape["loops"], [](const json& loop) {
    return loop["members"] == json::array({json::array({6, 4})}); // of a structure by value
  }));
  CHECK(needing(shape["branches"], {5}) == 1);
  CHECK(shape["branches"].size() == 2); // and one that compares the thread
  REQUIRE(shape["loads"].size() == 1);
  CHECK(needing(shape["loads"], {4}, false, {2}) == 1);
  CHECK(shape["loads"][0]["type"] == "float");
  REQUIRE(shape["fields"].size() == 1);
  CHECK(shape["fields"][0]["arg"] == 6);
  CHECK(shape["fields"][0]["offset"] == 4);
  CHECK(shape["written"] == json({0, 1}));
  CHECK(shape["scattered"] == json::array({7}));
}

TEST_CASE("what folds is gone from the code") {
  const json built = statistics()["code"];
  const json folded = statistics({argument(4, int32_t{3}), argument(5, int32_t{0})})["code"];
  CHECK(folded["instructions"] < built["instructions"]);
  CHECK(folded["branches"] < built["branches"]);
  CHECK(folded["loops"] < built["loops"]);
}

TEST_CASE("for the CPU device the shape is the same") {
  CHECK(statistics({}, "cpu")["shape"] == statistics()["shape"]);
}

TEST_CASE("nobody is told who did not ask") {
  const json plain = json::parse(compile::compile(vectorAddRequest("sm_90")).statisticsJson);
  CHECK_FALSE(plain.contains("shape"));
  CHECK_FALSE(plain.contains("code"));
}
