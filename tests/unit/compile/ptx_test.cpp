#include <doctest/doctest.h>

#include "toolkit.h"

using namespace mneme;
using namespace mneme::test;

namespace {

compile::Result compileWithIr(compile::Request request) {
  request.wantIr = true;
  return compile::compile(request);
}

} // namespace

TEST_CASE("a kernel compiles to PTX of the architecture and version it was written for") {
  compile::Request request = vectorAddRequest("sm_90");
  request.wantAssembly = true;
  const compile::Result result = compile::compile(request);
  CHECK(contains(result.assembly, ".target sm_90"));
  CHECK(contains(result.assembly, ".version 8.0"));
  CHECK(contains(result.assembly, ".visible .entry vectorAdd"));
  CHECK(contains(result.statisticsJson, "\"target_cpu\":\"sm_90\""));
}

TEST_CASE("another architecture than the recorded one can be asked for") {
  compile::Request request = vectorAddRequest("sm_80");
  request.wantAssembly = true;
  CHECK(contains(compile::compile(request).assembly, ".target sm_80"));
}

TEST_CASE("fusion follows the ahead-of-time options") {
  compile::Request request = vectorAddRequest("sm_90");
  request.wantAssembly = true;
  CHECK(contains(compile::compile(request).assembly, "fma.rn.f32"));
}

TEST_CASE("pruning removes other kernels and unreached globals, unless switched off") {
  compile::Request request = vectorAddRequest("sm_90");
  request.passes = "";
  const std::string pruned = compileWithIr(request).ir;
  CHECK_FALSE(contains(pruned, "otherKernel"));
  CHECK_FALSE(contains(pruned, "@unused"));
  request.prune = false;
  request.internalize = false;
  const std::string whole = compileWithIr(request).ir;
  CHECK(contains(whole, "otherKernel"));
  CHECK(contains(whole, "@unused"));
}

TEST_CASE("internalising keeps device variables visible") {
  compile::Request request = vectorAddRequest("sm_90");
  request.passes = "";
  request.prune = false;
  const std::string ir = compileWithIr(request).ir;
  CHECK(contains(ir, "@unused = addrspace(1) externally_initialized global"));
  CHECK(contains(ir, "define internal ptx_kernel void @otherKernel"));
}

TEST_CASE("specialised arguments are constants in the final IR") {
  compile::Request request = vectorAddRequest("sm_90");
  request.specializedArgs = {argument(3, 1000), argument(4, 2.5f)};
  const std::string ir = compileWithIr(request).ir;
  CHECK(contains(ir, ", 1000"));
  CHECK(contains(ir, "2.500000e+00"));
}

TEST_CASE("specialised dimensions are constants in the final IR") {
  compile::Request request = vectorAddRequest("sm_90");
  request.specializeDims = true;
  request.block[0] = 128;
  request.grid[0] = 64;
  const std::string ir = compileWithIr(request).ir;
  CHECK_FALSE(contains(ir, "sreg.ntid"));
  CHECK(contains(ir, "range(i32 0, 128)"));
  CHECK(contains(ir, "range(i32 0, 64)"));
}

TEST_CASE("launch bounds reach the PTX") {
  compile::Request request = vectorAddRequest("sm_90");
  request.setLaunchBounds = true;
  request.block[0] = 96;
  request.block[1] = 2;
  request.minBlocksPerSm = 3;
  request.wantAssembly = true;
  const std::string fromBlock = compile::compile(request).assembly;
  CHECK(contains(fromBlock, ".maxntid 192"));
  CHECK(contains(fromBlock, ".minnctapersm 3"));
  request.maxThreads = 256;
  CHECK(contains(compile::compile(request).assembly, ".maxntid 256"));
}

TEST_CASE("an empty pipeline optimises nothing") {
  compile::Request request = vectorAddRequest("sm_90");
  request.passes = "";
  CHECK(contains(compileWithIr(request).ir, "%base = mul i32 %block, %width"));
}

TEST_CASE("modules are linked in order and as bitcode or text") {
  const char* const user = R"(
target triple = "nvptx64-nvidia-cuda"
declare float @helper(float)
define ptx_kernel void @useHelper(ptr %p) {
  %x = load float, ptr %p
  %y = call float @helper(float %x)
  store float %y, ptr %p
  ret void
})";
  const char* const helper = R"(
target triple = "nvptx64-nvidia-cuda"
define float @helper(float %x) {
  %y = fmul float %x, 3.0
  ret float %y
})";
  compile::Request request;
  request.modules = {bytesOf(user), compile::irToBitcode(bytesOf(helper))};
  request.kernel = "useHelper";
  request.target = "sm_90";
  CHECK(contains(compileWithIr(request).ir, "3.000000e+00"));
}

TEST_CASE("IR converts between text and bitcode") {
  const std::vector<std::byte> bitcode = compile::irToBitcode(bytesOf(kVectorAdd));
  CHECK(textOf(bitcode).substr(0, 2) == "BC");
  CHECK(contains(compile::irToText(bitcode), "ptx_kernel void @vectorAdd"));
}

TEST_CASE("the version names LLVM, the host and a cache key") {
  const std::string version = compile::versionJson();
  CHECK(contains(version, "\"llvm\":\""));
  CHECK(contains(version, "\"host_cpu\":\""));
  CHECK(contains(version, "\"cache_key\":\""));
}
