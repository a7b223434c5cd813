// Constants that code reads as if they lay in local memory, as pipelines of LLVM leave it.
#include <doctest/doctest.h>

#include "kernels.h"

using namespace mneme;
using namespace mneme::test;

namespace {

constexpr const char* kHead = R"(
target triple = "nvptx64-nvidia-cuda"
@table = private unnamed_addr constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
)";

// As written: an array that starts as a copy of the table.
constexpr const char* kArray = R"(
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define ptx_kernel void @sum(ptr %x, i32 %n) {
  %array = alloca [4 x double]
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %array, ptr align 8 @table, i64 32, i1 false)
  %at = getelementptr inbounds double, ptr %array, i32 %n
  %value = load double, ptr %at
  store double %value, ptr %x
  ret void
})";

// As LLVM 20 and later make of it, with a constant place and a place that depends on a branch, too.
constexpr const char* kTaken = R"(
define ptx_kernel void @sum(ptr %x, i32 %n) {
entry:
  %at = getelementptr double, ptr addrspace(5) addrspacecast (ptr @table to ptr addrspace(5)), i32 %n
  %first = load double, ptr addrspace(5) %at
  %second = load double, ptr addrspace(5) addrspacecast (ptr getelementptr (i8, ptr @table, i64 8) to ptr addrspace(5))
  %odd = trunc i32 %n to i1
  br i1 %odd, label %one, label %other
one:
  br label %other
other:
  %place = phi ptr addrspace(5) [ %at, %one ], [ getelementptr (i8, ptr addrspace(5) addrspacecast (ptr @table to ptr addrspace(5)), i64 16), %entry ]
  %third = load double, ptr addrspace(5) %place
  %sum = fadd double %first, %second
  %all = fadd double %sum, %third
  store double %all, ptr %x
  ret void
})";

compile::Request requestOf(const char* code, const char* passes, const char* target) {
  compile::Request request;
  request.modules = {bytesOf(std::string(kHead) + code)};
  request.kernel = "sum";
  request.target = target;
  request.passes = passes;
  request.wantIr = true;
  return request;
}

std::string irOf(const char* code, const char* passes) {
  return compile::compile(requestOf(code, passes, "sm_90")).ir;
}

} // namespace

TEST_CASE("no constant is read as local memory") {
  const std::string ir =
      irOf(kArray, "function(infer-address-spaces,instcombine<no-verify-fixpoint>)");
  CAPTURE(ir);
  CHECK_FALSE(contains(ir, "ptr @table to ptr addrspace(5)"));
}

TEST_CASE("what reads a constant as local memory reads a copy, wherever in it") {
  const std::string ir = irOf(kTaken, "function(dce)");
  CAPTURE(ir);
  CHECK(contains(ir, "%table.local = alloca [4 x double], align 8"));
  CHECK(contains(ir, "i64 32, i1 false)"));
  CHECK_FALSE(contains(ir, "@table to ptr addrspace(5)"));
  CHECK_FALSE(contains(ir, "(i8, ptr @table"));
}

TEST_CASE("code without such reads stays as it is") {
  const std::string ir = irOf(kArray, "default<O3>");
  CAPTURE(ir);
  CHECK_FALSE(contains(ir, ".local"));
}
