#include "support.h"

using namespace test;

namespace {

std::string kernelWith(const std::string& declarations, const std::string& body) {
  return kPreamble + declarations + "\ndefine ptx_kernel void @k(ptr %p) {\n" + body +
         "\n  ret void\n}\n";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("an intrinsic outside the tables is named") {
  std::string message = compileError(kernelWith("declare void @llvm.nvvm.tcgen05.wait.ld()",
                                                "  call void @llvm.nvvm.tcgen05.wait.ld()"),
                                     "k");
  CHECK(contains(message, "llvm.nvvm.tcgen05.wait.ld"));
  CHECK(contains(message, "'k'"));
}

TEST_CASE("a PTX instruction outside the tables is named") {
  std::string message = compileError(
      kernelWith("", "  call void asm sideeffect \"wgmma.fence.sync.aligned;\", \"\"()"), "k");
  CHECK(contains(message, "wgmma.fence.sync.aligned"));
}

TEST_CASE("an unknown modifier of a known PTX instruction is not ignored") {
  std::string message = compileError(
      kernelWith("", "  %r = call i32 asm \"add.strange.u32 $0, $1, $1;\", \"=r,r\"(i32 1)\n"
                     "  store i32 %r, ptr %p"),
      "k");
  CHECK(contains(message, "add.strange.u32"));
}

TEST_CASE("products of matrices whose elements lie elsewhere are named") {
  const auto lost = [](const std::string& instruction) {
    return contains(compileError(kernelWith("", "  call void asm sideeffect \"{ .reg .b32 %x<9>; " +
                                                    instruction + "; }\", \"\"()"),
                                 "k"),
                    instruction.substr(0, instruction.find(' ')));
  };
  CHECK(lost("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%x0}, {%x1}, {%x2}, {%x3}"));
  CHECK(lost("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%x0}, {%x1}, {%x2}, {%x3}"));
  CHECK(lost("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%x0}, {%x1}, {%x2}, {%x3}"));
  CHECK(
      lost("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%x0}, {%x1}, {%x2}, {%x3}"));
  CHECK(lost("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%x0}, [%x1]"));
}

TEST_CASE("clusters of blocks are named") {
  const auto message = [](const std::string& size) {
    return compileError(std::string(kPreamble) + "define ptx_kernel void @k(ptr %p) #0 {\n" +
                            "  ret void\n}\nattributes #0 = { \"nvvm.cluster_dim\"=\"" + size +
                            "\" }\n",
                        "k");
  };
  CHECK(contains(message("2,1,1"), "clusters of more than one block"));
  CHECK(message("1,1,1").empty());
}

TEST_CASE("an undefined device function is named") {
  std::string message = compileError(
      kernelWith("declare void @elsewhere(ptr)", "  call void @elsewhere(ptr %p)"), "k");
  CHECK(contains(message, "'elsewhere'"));
}

TEST_CASE("what the kernel does not reach may hold anything") {
  std::string text = kernelWith("declare void @llvm.nvvm.tcgen05.wait.ld()", "") +
                     "define void @unused() {\n  call void @llvm.nvvm.tcgen05.wait.ld()\n"
                     "  ret void\n}\n";
  CHECK(compileError(text, "k").empty());
}

TEST_CASE("a branch that reflection rules out may hold anything") {
  std::string text = kernelWith("@name = private constant [12 x i8] c\"__CUDA_ARCH\\00\"\n"
                                "declare i32 @__nvvm_reflect(ptr)\n"
                                "declare void @llvm.nvvm.tcgen05.wait.ld()",
                                "  %arch = call i32 @__nvvm_reflect(ptr @name)\n"
                                "  %old = icmp slt i32 %arch, 500\n"
                                "  br i1 %old, label %no, label %yes\n"
                                "no:\n  call void @llvm.nvvm.tcgen05.wait.ld()\n  br label %yes\n"
                                "yes:\n  store i32 %arch, ptr %p");
  CHECK(compileError(text, "k").empty());
}

TEST_CASE("a PTX instruction with too few operands is named, not guessed") {
  for (const char* text : {"add.u32 $0;", "mov.u32;", "ld.global.u32 $0;", "cvt.rn.f16.f32 $0;",
                           "bar.sync;", "shl.b32 $0, $1;", "@p;", "setp.lt.u32 $0;",
                           "mbarrier.init;", "atom.add.u32 $0;", "{ .reg .u99 x; }", "fence;;;x"}) {
    std::string message =
        compileError(kernelWith("", "  %r = call i32 asm sideeffect \"" + std::string(text) +
                                        "\", \"=r,r\"(i32 1)\n  store i32 %r, ptr %p"),
                     "k");
    CHECK_MESSAGE(!message.empty(), std::string(text));
  }
}
