// The pass `mneme-unroll<N>` or `<full>`: marks in the IR, and what the pipeline behind it makes of
// them.
#include <doctest/doctest.h>

#include "kernels.h"

using namespace mneme;
using namespace mneme::test;

namespace {

// y[i] += x[i] for i < n, with `properties` of the loop.
std::string loopKernel(const std::string& properties = "!1") {
  return R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @sum(ptr noalias %x, ptr noalias %y, i32 %n) {
entry:
  %any = icmp sgt i32 %n, 0
  br i1 %any, label %loop, label %done
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = getelementptr inbounds float, ptr %x, i32 %i
  %to = getelementptr inbounds float, ptr %y, i32 %i
  %a = load float, ptr %at
  %b = load float, ptr %to
  %c = fadd float %a, %b
  store float %c, ptr %to
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done, !llvm.loop !0
done:
  ret void
}
!0 = distinct !{!0, )" +
         properties + R"(}
!1 = !{!"llvm.loop.mustprogress"}
!2 = !{!"llvm.loop.unroll.count", i32 2}
!3 = !{!"llvm.loop.unroll.disable"}
)";
}

// Two loops, one in the other; the inner one may stand in a function of its own.
const char* const kNested = R"(
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @sum(ptr %x, i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %outer.end ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
  %k = add i32 %i, %j
  %at = getelementptr inbounds i32, ptr %x, i32 %k
  store volatile i32 %j, ptr %at
  %j.next = add nsw i32 %j, 1
  %j.more = icmp slt i32 %j.next, %n
  br i1 %j.more, label %inner, label %outer.end
outer.end:
  %i.next = add nsw i32 %i, 1
  %i.more = icmp slt i32 %i.next, %n
  br i1 %i.more, label %outer, label %done
done:
  ret void
})";

const char* const kNestedByCall = R"(
target triple = "nvptx64-nvidia-cuda"
define internal void @row(ptr %x, i32 %i, i32 %n) {
entry:
  br label %inner
inner:
  %j = phi i32 [ 0, %entry ], [ %j.next, %inner ]
  %k = add i32 %i, %j
  %at = getelementptr inbounds i32, ptr %x, i32 %k
  store volatile i32 %j, ptr %at
  %j.next = add nsw i32 %j, 1
  %j.more = icmp slt i32 %j.next, %n
  br i1 %j.more, label %inner, label %done
done:
  ret void
}
define ptx_kernel void @sum(ptr %x, i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %outer ]
  call void @row(ptr %x, i32 %i, i32 %n)
  %i.next = add nsw i32 %i, 1
  %i.more = icmp slt i32 %i.next, %n
  br i1 %i.more, label %outer, label %done
done:
  ret void
})";

compile::Result compiled(const std::string& code, const std::string& passes,
                         const std::string& target = "sm_90") {
  compile::Request request;
  request.modules = {bytesOf(code)};
  request.kernel = "sum";
  request.target = target;
  request.passes = passes;
  request.wantIr = true;
  request.wantAssembly = true;
  return compile::compile(request);
}

std::string irOf(const std::string& code, const std::string& passes) {
  return compiled(code, passes).ir;
}

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

} // namespace

TEST_CASE("a loop is unrolled as often as the pass says") {
  // The unrolled body, and one of the remainder.
  for (const int count : {2, 4, 8, 16}) {
    const std::string pass = "function(mneme-unroll<" + std::to_string(count) + ">)";
    const compile::Result result = compiled(loopKernel(), pass + ",default<O3>");
    CHECK(occurrences(result.ir, "= fadd float") >= count);
    CHECK(occurrences(result.ir, "= fadd float") < 2 * count);
    CHECK(occurrences(result.assembly, "st.global.") >= count);
  }
}

TEST_CASE("a count of one keeps loops as they are") {
  const std::string ir = irOf(loopKernel(), "function(mneme-unroll<1>),default<O3>");
  CHECK(occurrences(ir, "= fadd float") == 1);
  CHECK(occurrences(irOf(loopKernel(), "default<O3>"), "= fadd float") > 1);
}

TEST_CASE("marks are added to what is known of a loop") {
  const std::string ir = irOf(loopKernel(), "function(mneme-unroll<8>)");
  CHECK(contains(ir, "!\"llvm.loop.unroll.count\", i32 8}"));
  CHECK(contains(ir, "llvm.loop.mustprogress"));
  CHECK(contains(irOf(loopKernel(), "function(mneme-unroll<1>)"), "llvm.loop.unroll.disable"));
}

TEST_CASE("pragmas of the user's are respected") {
  const std::string two = irOf(loopKernel("!1, !2"), "function(mneme-unroll<8>)");
  CHECK(contains(two, "!\"llvm.loop.unroll.count\", i32 2}"));
  CHECK_FALSE(contains(two, "i32 8}"));
  CHECK_FALSE(contains(irOf(loopKernel("!3"), "function(mneme-unroll<8>)"), "unroll.count"));
  CHECK_FALSE(contains(irOf(loopKernel("!2"), "function(mneme-unroll<1>)"), "unroll.disable"));
}

TEST_CASE("of nested loops the innermost is marked") {
  const std::string ir = irOf(kNested, "function(mneme-unroll<4>)");
  CHECK(occurrences(ir, "!llvm.loop !") == 1);
  CHECK(contains(ir, "label %inner, label %outer.end, !llvm.loop"));
}

TEST_CASE("a count of one holds for loops around the innermost too") {
  const std::string ir = irOf(kNested, "function(mneme-unroll<1>),default<O3>");
  CHECK(occurrences(ir, "store volatile i32") == 1);
  CHECK(occurrences(irOf(kNested, "function(mneme-unroll<1>)"), "!llvm.loop !") == 2);
}

// The nest of `kNested` with lengths that are known.
std::string nestOf(const std::string& length) {
  std::string code = kNested;
  for (const std::string of : {"%j.next, %n", "%i.next, %n"})
    code.replace(code.find(of), of.size(), of.substr(0, 9) + length);
  return code;
}

TEST_CASE("loops of known length vanish, also those around others") {
  const std::string passes = "function(mneme-unroll<full>),default<O3>";
  const std::string ir = irOf(nestOf("24"), passes);
  CHECK(occurrences(ir, "store volatile i32") == 24 * 24);
  CHECK_FALSE(contains(ir, "= phi "));
  CHECK(contains(irOf(nestOf("24"), "default<O3>"), "= phi "));
}

TEST_CASE("loops of unknown length, and those that are too long, stay loops") {
  const std::string pass = "function(mneme-unroll<full>)";
  CHECK_FALSE(contains(irOf(kNested, pass), "!llvm.loop !"));
  // 1000 times the inner loop's six instructions are enough.
  const std::string ir = irOf(nestOf("1000"), pass);
  CHECK(occurrences(ir, "!llvm.loop !") == 1);
  CHECK(contains(ir, "label %inner, label %outer.end, !llvm.loop"));
  CHECK_FALSE(contains(irOf(nestOf("9000"), pass), "!llvm.loop !"));
  CHECK(contains(irOf(loopKernel("!1, !2"), pass), "!\"llvm.loop.unroll.count\", i32 2}"));
}

TEST_CASE("what a loop calls counts as often as it is called") {
  std::string code = kNestedByCall;
  const std::string length = "%i.next, %n";
  code.replace(code.find(length), length.size(), "%i.next, 900");
  const std::string pass = "function(mneme-unroll<full>)";
  CHECK(occurrences(irOf(code, pass), "!llvm.loop !") == 1);
  const std::string call = "  call void @row(ptr %x, i32 %i, i32 %n)\n";
  code.insert(code.find(call), call);
  CHECK_FALSE(contains(irOf(code, pass), "!llvm.loop !"));
}

TEST_CASE("a loop that calls a loop is not the innermost") {
  const std::string ir = irOf(kNestedByCall, "function(mneme-unroll<4>)");
  CHECK(occurrences(ir, "!llvm.loop !") == 1);
  CHECK(contains(ir, "label %inner, label %done, !llvm.loop"));
  const std::string inlined = irOf(kNestedByCall, "function(mneme-unroll<4>),default<O3>");
  CHECK_FALSE(contains(inlined, "@row("));
  CHECK(occurrences(inlined, "store volatile i32") < 8);
}

TEST_CASE("a kernel without loops stays the same") {
  compile::Request request = vectorAddRequest("sm_90");
  request.wantAssembly = true;
  request.passes = "default<O3>";
  const std::string usual = compile::compile(request).assembly;
  request.passes = "function(mneme-unroll<8>),default<O3>";
  CHECK(compile::compile(request).assembly == usual);
}

TEST_CASE("loops are unrolled for the CPU device too") {
  // Compiled for one processor: others unroll the outer loop as well.
  for (const int count : {1, 4}) {
    const std::string pass = "function(mneme-unroll<" + std::to_string(count) + ">)";
    const std::string ir = compiled(kNested, pass + ",default<O3>", "cpu:skylake").ir;
    CHECK(occurrences(ir, "store volatile i32") >= count);
    CHECK(occurrences(ir, "store volatile i32") < 2 * count);
  }
}

TEST_CASE("counts that make no sense are refused by name") {
  for (const char* const pass :
       {"mneme-unroll<0>", "mneme-unroll<1025>", "mneme-unroll<-1>", "mneme-unroll<two>",
        "mneme-unroll<>", "mneme-unroll", "mneme-unrolls<2>", "mneme-unroll<fully>"}) {
    const Failure failure =
        failureOf([&] { compile::checkPasses(std::string("function(") + pass + ")"); });
    CHECK(failure.code == ErrorCode::InvalidArgument);
    CHECK(contains(failure.message, pass));
  }
  compile::checkPasses("function(mneme-unroll<1024>),default<O3>");
  compile::checkPasses("mneme-unroll<2>");
  compile::checkPasses("mneme-unroll<full>");
}
