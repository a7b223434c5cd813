#include <doctest/doctest.h>

#include "runtime/recorder/compiler_cache.h"

using namespace mneme;
using namespace mneme::record;

namespace {

std::vector<KernelArg> argsOf(const std::vector<uint64_t>& sizes) {
  std::vector<KernelArg> args;
  for (const uint64_t size : sizes)
    args.emplace_back().sizeBytes = size;
  return args;
}

const std::string kIr = R"(declare void @k(i32)
define ptx_kernel void @k2(i32 %0) {
}
; Function Attrs: nounwind
define ptx_kernel void @k(ptr addrspace(1) captures(none) %0, i32 %1, float range(1, 2) %2, i64 %3, ptr addrspace(1) %4) #0 !dbg !4 {
  call void @k(i32 1)
})";

} // namespace

TEST_CASE("a definition in LLVM IR gives types, and Triton's own IR gives names") {
  const std::string triton =
      "module {  tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(\"x\"(#loc)), "
      "%arg1: i32 loc(\"n\"(#loc)), %arg2: f32, %long_1: i64 loc(\"l,)\"(#loc))) attributes {} {";
  const auto args = argumentsIn(kIr, triton, "k", argsOf({8, 4, 4, 8, 8}));
  REQUIRE(args);
  std::string told;
  for (const KernelArg& arg : *args)
    told += arg.name + ":" + arg.type + (arg.isSpecializable ? "! " : " ");
  CHECK(told == "x:ptr n:i32! :float! long_1:i64! :ptr ");
  CHECK(args->at(2).kind == ArgKind::Float);
  CHECK(argumentsIn(kIr, "", "k", argsOf({8, 4, 4, 8, 8}))->at(0).name.empty());
}

TEST_CASE("IR whose arguments are not those of the code is not taken") {
  CHECK_FALSE(argumentsIn(kIr, "", "k", argsOf({8, 4, 4, 8})));
  CHECK_FALSE(argumentsIn(kIr, "", "k", argsOf({8, 8, 4, 8, 8})));
  CHECK_FALSE(argumentsIn(kIr, "", "other", argsOf({8, 4, 4, 8, 8})));
  CHECK_FALSE(argumentsIn("", "", "k", {}));
  for (size_t size = 0; size < kIr.size() - 30; ++size) // no part of it breaks the reader
    argumentsIn(kIr.substr(0, size), kIr.substr(0, size), "k", argsOf({8, 4, 4, 8, 8}));
}
