// Versions of code objects for AMD GPUs, and where their kernels read launch dimensions; no GPU is
// needed.
#include <doctest/doctest.h>

#include <utility>

#include "runtime/core/base/error.h"
#include "tests/unit/compile/kernels.h"

using namespace mneme;
using namespace mneme::test;

namespace {

/// Stores what version 5 tells behind the kernel's own arguments.
const char* const kDimensions = R"(
target triple = "amdgcn-amd-amdhsa"
@__oclc_ABI_version = internal addrspace(4) constant i32 500, align 4

define amdgpu_kernel void @dimensions(ptr addrspace(1) %out) #0 {
entry:
  %hidden = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %blocks = load i32, ptr addrspace(4) %hidden
  %sizePlace = getelementptr i8, ptr addrspace(4) %hidden, i64 14
  %size = load i16, ptr addrspace(4) %sizePlace
  %hostcallPlace = getelementptr i8, ptr addrspace(4) %hidden, i64 80
  %hostcall = load i64, ptr addrspace(4) %hostcallPlace
  %version = call i32 @version()
  store volatile i32 %blocks, ptr addrspace(1) %out
  store volatile i16 %size, ptr addrspace(1) %out
  store volatile i64 %hostcall, ptr addrspace(1) %out
  store volatile i32 %version, ptr addrspace(1) %out
  ret void
}
; As the device libraries do it.
define internal i32 @version() {
  %version = load i32, ptr addrspace(4) @__oclc_ABI_version
  ret i32 %version
}
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
attributes #0 = { nounwind "target-cpu"="GPU" "amdgpu-implicitarg-num-bytes"="256" }
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 500}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

compile::Request dimensionsRequest(const std::string& gpu, uint32_t version) {
  compile::Request request;
  request.modules = {bytesOf(replaced(kDimensions, "GPU", gpu))};
  request.kernel = "dimensions";
  request.target = gpu;
  request.codeObjectVersion = version;
  request.wantAssembly = true;
  request.wantIr = true;
  return request;
}

std::string refusalOf(const compile::Request& request) {
  try {
    (void)compile::compile(request);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// LLVM may have been built without code generation for AMD GPUs.
bool isSkipped() {
  const bool isMissing = !contains(compile::versionJson(), "amdgpu");
  if (isMissing)
    MESSAGE("skipped: this LLVM has no AMDGPU target");
  return isMissing;
}

} // namespace

TEST_CASE("the header of a code object has the version that was chosen") {
  if (isSkipped())
    return;
  for (const char* gpu : {"gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"})
    for (const auto& [version, abi] : {std::pair{4u, 2}, {5u, 3}, {6u, 4}, {0u, 3}}) {
      const compile::Result result = compile::compile(dimensionsRequest(gpu, version));
      // EI_ABIVERSION: ELFABIVERSION_AMDGPU_HSA_V4 is 2 (LLVM, User Guide for AMDGPU Backend).
      CHECK(static_cast<int>(result.image.at(8)) == abi);
    }
}

TEST_CASE("IR that says no version gets the one that is chosen") {
  if (isSkipped())
    return;
  compile::Request request = dimensionsRequest("gfx90a", 5);
  std::string text = replaced(kDimensions, "GPU", "gfx90a");
  text.resize(text.find("!llvm.module.flags"));
  request.modules = {bytesOf(text)};
  for (const auto& [version, abi] : {std::pair{5u, 3}, {6u, 4}}) {
    request.codeObjectVersion = version;
    CHECK(static_cast<int>(compile::compile(request).image.at(8)) == abi);
  }
}

TEST_CASE("launch dimensions are read from where the chosen version has them") {
  if (isSkipped())
    return;
  const compile::Result older = compile::compile(dimensionsRequest("gfx90a", 4));
  CHECK(contains(older.ir, "llvm.amdgcn.dispatch.ptr"));
  CHECK(contains(older.ir, "udiv i32"));               // the grid is told in threads
  CHECK(contains(older.ir, "%hidden, i64 24"));        // the hostcall buffer
  CHECK(contains(older.ir, "store volatile i32 400")); // as the device libraries see it
  CHECK(contains(older.assembly, "hidden_global_offset_x"));
  CHECK_FALSE(contains(older.assembly, "hidden_block_count_x"));
  const compile::Result newer = compile::compile(dimensionsRequest("gfx90a", 6));
  CHECK_FALSE(contains(newer.ir, "llvm.amdgcn.dispatch.ptr"));
  CHECK(contains(newer.ir, "store volatile i32 600"));
  CHECK(contains(newer.assembly, "hidden_block_count_x"));
  // And back: what was read from the packet is there in every version.
  compile::Request back = dimensionsRequest("gfx90a", 5);
  back.modules = {bytesOf(older.ir)};
  const compile::Result again = compile::compile(back);
  CHECK(contains(again.ir, "%hidden, i64 80"));
  CHECK(contains(again.assembly, "hidden_block_count_x"));
}

TEST_CASE("what a version does not have is refused with a sentence") {
  if (isSkipped())
    return;
  compile::Request request = dimensionsRequest("gfx90a", 4);
  request.modules = {bytesOf(replaced(replaced(kDimensions, "GPU", "gfx90a"), "i64 80", "i64 96"))};
  const std::string heap = refusalOf(request);
  CHECK(contains(heap, "'dimensions' reads the hidden argument at byte 96, which code objects of "
                       "version 4 do not have"));
  CHECK(contains(heap, "-mcode-object-version=4"));
  CHECK(contains(refusalOf(dimensionsRequest("gfx90a", 7)),
                 "there is no code object version 7; known are 4, 5 and 6"));
  CHECK(contains(refusalOf(dimensionsRequest("gfx11-generic", 5)),
                 "'gfx11-generic' is for several GPUs and needs code objects of version 6, not 5"));
  CHECK(refusalOf(dimensionsRequest("gfx11-generic", 6)).empty());
  compile::Request other = vectorAddRequest("cpu");
  other.codeObjectVersion = 5;
  CHECK(contains(refusalOf(other), "only code for AMD GPUs has one"));
}
