#include <doctest/doctest.h>

#include "toolkit.h"

using namespace mneme;
using namespace mneme::test;

namespace {

const char* const kGlobals = R"(
target triple = "nvptx64-nvidia-cuda"
@counter = addrspace(1) externally_initialized global i32 7, align 4
@table = addrspace(1) externally_initialized global [4 x float] [float 1.0, float 2.0, float 3.0, float 4.0], align 4
@pointer = addrspace(1) externally_initialized global ptr addrspacecast (ptr addrspace(1) @table to ptr), align 8
@factor = addrspace(4) externally_initialized global float 2.0, align 4
@tile = internal addrspace(3) global [32 x float] undef, align 4
@alias = alias i32, addrspacecast (ptr addrspace(1) @counter to ptr)
@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @counter to ptr)], section "llvm.metadata"

define ptx_kernel void @useGlobals(ptr %out, i64 %i) {
  %old = atomicrmw add ptr addrspacecast (ptr addrspace(1) @counter to ptr), i32 1 seq_cst
  %direct = load volatile i32, ptr addrspace(1) @counter
  %aliased = load volatile i32, ptr @alias
  %element = getelementptr [4 x float], ptr addrspacecast (ptr addrspace(1) @table to ptr), i64 0, i64 %i
  %value = load float, ptr %element
  %second = load volatile float, ptr getelementptr (i8, ptr addrspacecast (ptr addrspace(1) @table to ptr), i64 4)
  %third = load volatile float, ptr addrspace(1) getelementptr (i8, ptr addrspace(1) @table, i64 8)
  %p = load ptr, ptr addrspace(1) @pointer
  %through = load volatile float, ptr %p
  %factor = load float, ptr addrspace(4) @factor
  %slot = getelementptr [32 x float], ptr addrspace(3) @tile, i64 0, i64 %i
  store volatile float %factor, ptr addrspace(3) %slot
  %sum = fadd float %value, %factor
  store float %sum, ptr %out
  ret void
})";

/// GPU code generation knows no aliases of variables; placing resolves them.
compile::Request globalsRequest(bool hasAlias = true) {
  std::string ir = kGlobals;
  if (!hasAlias) {
    const size_t alias = ir.find("@alias = ");
    ir.erase(alias, ir.find('\n', alias) - alias);
    ir.replace(ir.find("ptr @alias"), 10, "ptr addrspace(1) @counter");
  }
  compile::Request request;
  request.modules = {bytesOf(ir)};
  request.kernel = "useGlobals";
  request.target = "sm_90";
  request.passes = "";
  request.wantIr = true;
  return request;
}

} // namespace

TEST_CASE("placed device variables become their addresses and go away") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  for (const bool prune : {true, false}) {
    CAPTURE(prune);
    compile::Request request = globalsRequest();
    request.prune = prune;
    request.placedGlobals = {{"counter", 0x600000001000}, {"table", 0x600000002000},
                             {"pointer", 0x600000003000}, {"noSuchVariable", 0x600000004000},
                             {"factor", 0x600000005000},  {"tile", 0x600000006000}};
    const compile::Result result = compile::compile(request);
    CHECK(isCubin(result.image));
    CHECK_FALSE(contains(result.ir, "@counter"));
    CHECK_FALSE(contains(result.ir, "@table"));
    CHECK_FALSE(contains(result.ir, "@pointer"));
    CHECK_FALSE(contains(result.ir, "@alias"));
    CHECK_FALSE(contains(result.ir, "addrspacecast"));
    CHECK(contains(result.ir, "atomicrmw add ptr inttoptr (i64 105553116270592 to ptr)"));
    CHECK(contains(result.ir, "ptr addrspace(1) inttoptr (i64 105553116270592 to"));
    CHECK(contains(result.ir, "@factor = "));
    CHECK(contains(result.ir, "@tile = "));
    request.passes = "default<O3>";
    request.wantAssembly = true;
    const std::string ptx = compile::compile(request).assembly;
    CHECK_FALSE(contains(ptx, "cvta.global"));
    CHECK(contains(ptx, "105553116270592"));
  }
}

TEST_CASE("a constant that holds the address of a placed variable compiles") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  compile::Request request;
  request.modules = {bytesOf(R"(
target triple = "nvptx64-nvidia-cuda"
@table = addrspace(1) externally_initialized global [4 x float] zeroinitializer, align 4
@where = addrspace(4) externally_initialized global ptr addrspacecast (ptr addrspace(1) @table to ptr), align 8
define ptx_kernel void @useWhere(ptr %out) {
  %p = load ptr, ptr addrspace(4) @where
  %x = load float, ptr %p
  store float %x, ptr %out
  ret void
})")};
  request.kernel = "useWhere";
  request.target = "sm_90";
  request.placedGlobals = {{"table", 0x600000002000}};
  request.wantAssembly = true;
  CHECK(contains(compile::compile(request).assembly, "105553116274688"));
}

TEST_CASE("without places, variables stay; for the CPU they always do") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  compile::Request request = globalsRequest(false);
  CHECK(contains(compile::compile(request).ir, "@counter = "));
  request.target = "cpu";
  request.placedGlobals = {{"counter", 0x600000001000}};
  CHECK(contains(compile::compile(request).ir, "counter"));
}

TEST_CASE("a place needs an address") {
  compile::Request request = globalsRequest();
  request.placedGlobals = {{"counter", 0}};
  CHECK(failureOf([&] { compile::compile(request); }).code == ErrorCode::InvalidArgument);
}
