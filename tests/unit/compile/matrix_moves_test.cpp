#include <doctest/doctest.h>

#include "toolkit.h"

using namespace mneme;
using namespace mneme::test;

namespace {

/// A kernel that moves two matrices from shared memory by `load` and back by `store`.
std::string lowered(const std::string& load, const std::string& store) {
  const std::string text = R"(target triple = "nvptx64-nvidia-cuda"
@tile = external addrspace(3) global [0 x i8], align 16
declare {i32, i32} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3(ptr addrspace(3))
declare void @llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.b16.p3(ptr addrspace(3), i32, i32)
define ptx_kernel void @k(ptr %out) {
  %both = call {i32, i32} )" +
                           load +
                           R"((ptr addrspace(3) @tile)
  %a = extractvalue {i32, i32} %both, 0
  %b = extractvalue {i32, i32} %both, 1
  call void )" + store + R"((ptr addrspace(3) @tile, i32 %b, i32 %a)
  ret void
}
)";
  compile::Request request;
  const auto bytes = std::as_bytes(std::span(text));
  request.modules = {{bytes.begin(), bytes.end()}};
  request.kernel = "k";
  request.target = "cpu";
  request.wantIr = true;
  return compile::compile(request).ir;
}

} // namespace

TEST_CASE("moves of matrices by intrinsics are those by inline PTX") {
  const std::string ir = lowered("@llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16.p3",
                                 "@llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.b16.p3");
  CHECK(ir ==
        lowered("asm sideeffect \"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {$0, $1}, "
                "[$2];\", \"=r,=r,l\"",
                "asm sideeffect \"stmatrix.sync.aligned.m8n8.x2.shared.b16 [$0], {$1, $2};\", "
                "\"l,r,r\""));
  CHECK_FALSE(contains(ir, "ldmatrix"));
  CHECK(contains(ir, "i16"));
}
