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
  %u = fadd float %v, 1.000000e-07
  %i = call float @llvm.maxnum.f32(float %u, float -inf)
  %w = fadd float %i, %a
  store volatile float +nan(0x3FFFFF), ptr %q
  store volatile float %w, ptr %p, !note !0
  store volatile double %b, ptr %q
  store volatile half %c, ptr %p
  ret void
}
declare float @llvm.maxnum.f32(float, float)
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
  CHECK(contains(ir, "0x3E7AD7F2A0000000")); // the float nearest to 1e-7
  CHECK(contains(ir, "0xFFF0000000000000"));
  CHECK(contains(ir, "float 0x7FFFFFFFE0000000"));
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
