#include <doctest/doctest.h>

#include "runtime/compiler/service/disk_cache.h"
#include "runtime/core/abi/variable_names.h"
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

TEST_CASE("a place needs a name") {
  compile::Request request = globalsRequest();
  request.placedGlobals = {{"", 4096}};
  CHECK(failureOf([&] { compile::compile(request); }).code == ErrorCode::InvalidArgument);
}

TEST_CASE("a place without an address is read from a constant the loader fills in") {
  const WithAssembler tool("ptxas");
  if (!tool)
    return;
  for (const char* passes : {"", "default<O3>"}) {
    CAPTURE(passes);
    compile::Request request = globalsRequest();
    request.passes = passes;
    request.wantAssembly = true;
    request.placedGlobals = {{"counter", 0}, {"table", 0}, {"pointer", 0}, {"factor", 0}};
    const compile::Result result = compile::compile(request);
    CHECK(isCubin(result.image));
    for (const char* name : {"counter", "table", "pointer"}) {
      CAPTURE(name);
      CHECK_FALSE(contains(result.ir, "@" + std::string(name) + " ="));
      CHECK(contains(result.assembly,
                     ".visible .const .align 8 .u64 __mneme_place_" + std::string(name)));
      CHECK(contains(textOf(result.image), "__mneme_place_" + std::string(name)));
    }
    CHECK_FALSE(contains(result.ir, "__mneme_place_factor"));
    CHECK(contains(result.ir, "@factor = "));
  }
}

TEST_CASE("images with open places do not depend on addresses, others do") {
  compile::Request request = globalsRequest();
  const auto keyWith = [&](uint64_t address) {
    request.placedGlobals = {{"counter", address}};
    return compile::cacheKey(request, "library");
  };
  CHECK(keyWith(0) == keyWith(0));
  CHECK_FALSE(keyWith(0) == keyWith(4096));
}

TEST_CASE("loops use a place that was read before them, in global memory instructions") {
  compile::Request request;
  request.modules = {bytesOf(R"(
target triple = "nvptx64-nvidia-cuda"
@"odd.name" = internal addrspace(1) externally_initialized global [64 x float] zeroinitializer, align 16
define internal void @addTo(i64 %i, float %x) noinline {
  %slot = getelementptr [64 x float], ptr addrspacecast (ptr addrspace(1) @"odd.name" to ptr), i64 0, i64 %i
  store float %x, ptr %slot
  ret void
}
define ptx_kernel void @sumUp(ptr %in, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %in, i64 %i
  %x = load float, ptr %from
  %old = load float, ptr addrspacecast (ptr addrspace(1) @"odd.name" to ptr)
  %sum = fadd float %x, %old
  store float %sum, ptr addrspacecast (ptr addrspace(1) @"odd.name" to ptr)
  call void @addTo(i64 %i, float %sum)
  %next = add i64 %i, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  ret void
})")};
  request.kernel = "sumUp";
  request.target = "sm_90";
  request.placedGlobals = {{"odd.name", 0}};
  request.wantIr = true;
  request.wantAssembly = true;
  const std::string place = placeVariable("odd.name");
  CHECK(place == "__mneme_place_odd$2ename");
  const WithAssembler tool("ptxas");
  const compile::Result result = compile::compile(request);
  CHECK((!tool || isCubin(result.image)));
  CHECK(contains(result.assembly, ".visible .const .align 8 .u64 " + place));
  const std::string kernel = result.ir.substr(result.ir.find("@sumUp"));
  const size_t read = kernel.find("load ptr addrspace(1), ptr addrspace(4) @\"" + place);
  const size_t phi = kernel.find(" = phi ");
  REQUIRE(phi != std::string::npos);
  CHECK(read < phi);
  CHECK(contains(result.assembly, "st.global"));
  CHECK_FALSE(contains(result.assembly, "\tst.b32"));
}

TEST_CASE("a constant cannot hold an address that is not known yet") {
  compile::Request request;
  request.modules = {bytesOf(R"(
target triple = "nvptx64-nvidia-cuda"
@table = addrspace(1) externally_initialized global [4 x float] zeroinitializer, align 4
@where = addrspace(4) externally_initialized global ptr addrspacecast (ptr addrspace(1) @table to ptr), align 8
define ptx_kernel void @useWhere(ptr %out) {
  %p = load ptr, ptr addrspace(4) @where
  store ptr %p, ptr %out
  ret void
})")};
  request.kernel = "useWhere";
  request.target = "sm_90";
  request.placedGlobals = {{"table", 0}};
  const Failure failure = failureOf([&] { compile::compile(request); });
  CHECK(failure.code == ErrorCode::Unsupported);
  CHECK(contains(failure.message, "'table'"));
}
