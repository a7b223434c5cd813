#include <doctest/doctest.h>

#include "toolkit.h"

using namespace mneme;
using namespace mneme::test;

namespace {

const std::string kKernel = R"(target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @k(ptr %p, ptr %q, float %f, double %d, half %h) {
  %a = fmul float %f, f0x3FB8AA3B
  %b = fadd double %d, f0x3FF8000000000000
  %c = fadd half %h, f0x3E00
  %s = fmul <2 x float> splat (float f0x40490FDB), <float 1.0, float f0x40490FDB>
  %v = extractelement <2 x float> %s, i32 0
  %w = fadd float %v, %a
  store volatile float %w, ptr %p, !note !0
  store volatile double %b, ptr %q
  store volatile half %c, ptr %p
  ret void
}
!0 = !{!"float f0x3FB8AA3B"}
)";

} // namespace

TEST_CASE("floating-point numbers as newer LLVMs write them are read") {
  compile::Request request;
  const auto bytes = std::as_bytes(std::span(kKernel));
  request.modules = {{bytes.begin(), bytes.end()}};
  request.kernel = "k";
  request.target = "sm_90";
  request.passes = "";
  request.wantIr = true;
  const std::string ir = compile::compile(request).ir;
  CHECK(contains(ir, "0x3FF7154760000000"));
  CHECK(contains(ir, "double %d, 1.5"));
  CHECK(contains(ir, "half %h, 0xH3E00"));
  CHECK(contains(ir, "0x400921FB60000000"));
}

TEST_CASE("numbers of types that nobody knows are refused with their line") {
  std::string text = kKernel;
  text.replace(text.find("f0x3E00"), 7, "f0x3E0");
  compile::Request request;
  const auto bytes = std::as_bytes(std::span(text));
  request.modules = {{bytes.begin(), bytes.end()}};
  request.kernel = "k";
  request.target = "sm_90";
  CHECK_THROWS_WITH_AS(compile::compile(request), doctest::Contains("is not LLVM IR: line 5"),
                       Error);
}
