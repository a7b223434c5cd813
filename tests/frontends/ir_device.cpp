// Kernels of LLVM IR: a program that has none of its own.
#include <cstddef>
#include <cstdio>
#include <string>

#include <proteus/Error.h>
#include <proteus/LLVMIRJitModule.h>

#ifdef TEST_HIP
#define VENDOR(name) hip##name
static const char* const kTarget = "hip";
static const char* const kCode = R"(
target triple = "amdgcn-amd-amdhsa"
@total = addrspace(1) externally_initialized global i32 0
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
define amdgpu_kernel void @scale(ptr addrspace(1) %x, double %a, i32 %width) {
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %b = call i32 @llvm.amdgcn.workgroup.id.x()
  %o = mul i32 %b, %width
  %i = add i32 %o, %t
  %l = sext i32 %i to i64
  %p = getelementptr double, ptr addrspace(1) %x, i64 %l
  %v = load double, ptr addrspace(1) %p
  %r = fmul double %v, %a
  store double %r, ptr addrspace(1) %p
  %old = atomicrmw add ptr addrspace(1) @total, i32 1 seq_cst
  ret void
}
define amdgpu_kernel void @fetch(ptr addrspace(1) %out) {
  %v = load i32, ptr addrspace(1) @total
  store i32 %v, ptr addrspace(1) %out
  ret void
}
)";
#else
#define VENDOR(name) cuda##name
static const char* const kTarget = "cuda";
// Without a triple; kernels in the older way.
static const char* const kCode = R"(
@total = addrspace(1) externally_initialized global i32 0
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define void @scale(ptr addrspace(1) %x, double %a, i32 %width) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %o = mul i32 %b, %width
  %i = add i32 %o, %t
  %l = sext i32 %i to i64
  %p = getelementptr double, ptr addrspace(1) %x, i64 %l
  %v = load double, ptr addrspace(1) %p
  %r = fmul double %v, %a
  store double %r, ptr addrspace(1) %p
  %old = atomicrmw add ptr addrspace(1) @total, i32 1 seq_cst
  ret void
}
define ptx_kernel void @fetch(ptr %out) {
  %v = load i32, ptr addrspace(1) @total
  store i32 %v, ptr %out
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @scale, !"kernel", i32 1}
)";
#endif

extern "C" {
int VENDOR(MallocManaged)(void** pointer, size_t bytes, unsigned flags);
int VENDOR(DeviceSynchronize)();
}

int main() {
  constexpr int kBlocks = 3, kThreads = 64;
  double* x = nullptr;
  int* count = nullptr;
  VENDOR(MallocManaged)(reinterpret_cast<void**>(&x), sizeof(double) * kBlocks * kThreads, 1);
  VENDOR(MallocManaged)(reinterpret_cast<void**>(&count), sizeof(int), 1);
  for (int index = 0; index < kBlocks * kThreads; ++index)
    x[index] = index;

  proteus::LLVMIRJitModule module(kTarget, kCode);
  auto scale = module.getKernel<void(double*, double, int)>("scale");
  for (int round = 0; round < 2; ++round)
    if (const int status = scale.launch({kBlocks}, kThreads, 0, nullptr, x, 1.5, kThreads))
      std::printf("status %d\n", status);
  auto fetch = module.getKernel<void(int*)>("fetch");
  const int status = fetch.launch({1, 1, 1}, {1, 1, 1}, 0, nullptr, count);
  VENDOR(DeviceSynchronize)();
  std::printf("status %d x %g %g threads %d\n", status, x[1], x[kBlocks * kThreads - 1], *count);
  const int tooMany = scale.launch({1}, {4096}, 0, nullptr, x, 1.5, kThreads);
  std::printf("too many threads: %s\n", tooMany ? "refused" : "accepted");
  try {
    module.getKernel<void()>("scal");
  } catch (const proteus::FatalError& error) {
    const std::string text = error.what();
    std::printf("%s\n", text.substr(text.find(" => ") + 4).c_str());
  }
}
