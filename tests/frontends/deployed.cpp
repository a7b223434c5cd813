// Kernels of every frontend, for recording, tuning and deploying; with TEST_HIP defined for AMD
// GPUs. usage: deployed KIND FACTOR
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <proteus/CppJitModule.h>
#include <proteus/JitFrontend.h>

using namespace proteus;
using namespace builtins::gpu;

#ifdef TEST_HIP
#define VENDOR(name) hip##name
static const char* const kTarget = "hip";
static const std::string kHeader = "#include <hip/hip_runtime.h>\n";
#else
#define VENDOR(name) cuda##name
static const char* const kTarget = "cuda";
static const std::string kHeader;
#endif

extern "C" {
int VENDOR(MallocManaged)(void** pointer, size_t bytes, unsigned flags);
int VENDOR(DeviceSynchronize)();
}

static constexpr int kBlocks = 16, kThreads = 64, kCount = kBlocks * kThreads;
static double* x;

static const char* const kSource = R"cpp(
extern "C" __global__ void scale(double* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; ++k)
    x[i] = x[i] * FACTOR + k;
}
template <typename T> __global__ void scaleOf(T* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < n; ++k)
    x[i] = x[i] * FACTOR + k;
}
)cpp";

#ifdef TEST_HIP
static const std::string kBegin = R"(
declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
define amdgpu_kernel void @scale(ptr %x, i32 %n) {
entry:
  %t = call i32 @llvm.amdgcn.workitem.id.x()
  %b = call i32 @llvm.amdgcn.workgroup.id.x()
)";
#else
static const std::string kBegin = R"(
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define ptx_kernel void @scale(ptr %x, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
)";
#endif

static const std::string kText = kBegin + R"(
  %o = mul i32 %b, 64
  %i = add i32 %o, %t
  %l = sext i32 %i to i64
  %p = getelementptr double, ptr %x, i64 %l
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %v = load double, ptr %p
  %m = fmul double %v, FACTOR.0
  %f = sitofp i32 %k to double
  %r = fadd double %m, %f
  store double %r, ptr %p
  %next = add i32 %k, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}
)";

static std::string textFor(int factor) {
  std::string text = kText;
  const std::string what = "FACTOR";
  return text.replace(text.find(what), what.size(), std::to_string(factor));
}

static CppJitModule sourceFor(int factor) {
  return {kTarget, kHeader + kSource, {"-DFACTOR=" + std::to_string(factor)}};
}

static int writeAndLaunch(int factor) {
  JitModule module(kTarget);
  auto kernel = module.addKernel<void(double*, int)>("scale");
  auto& F = kernel.F;
  F.function([&] {
    auto& P = F.getArg<0>();
    auto& N = F.getArg<1>();
    auto I = F.defVar(F.callBuiltin(getBlockIdX) * F.callBuiltin(getBlockDimX) +
                      F.callBuiltin(getThreadIdX));
    auto K = F.declVar<int>("k");
    auto By = F.defRuntimeConst<double>(factor);
    F.forLoop(K, 0, N, 1, [&] { P[I] = P[I] * By + K; });
    F.ret();
  });
  return kernel.launch(kBlocks, kThreads, 0, nullptr, x, 3);
}

static int run(const std::string& kind, int factor) {
  using Signature = void(double*, int);
  if (kind == "dsl")
    return writeAndLaunch(factor);
  if (kind == "ir")
    return LLVMIRJitModule(kTarget, textFor(factor))
        .getKernel<Signature>("scale")
        .launch(kBlocks, kThreads, 0, nullptr, x, 3);
  if (kind == "instance")
    return sourceFor(factor)
        .instantiate("scaleOf", "double")
        .launch(kBlocks, kThreads, 0, nullptr, x, 3);
  return sourceFor(factor).getKernel<Signature>("scale").launch(kBlocks, kThreads, 0, nullptr, x,
                                                                3);
}

int main(int, char** arguments) {
  const std::string kind = arguments[1];
  const int factor = std::atoi(arguments[2]);
  VENDOR(MallocManaged)(reinterpret_cast<void**>(&x), sizeof(double) * kCount, 1);
  for (int index = 0; index < kCount; ++index)
    x[index] = index;
  // A pair: two modules with kernels of one name.
  int status = run(kind, factor);
  if (kind == "pair")
    status = status ? status : run(kind, factor + 1);
  VENDOR(DeviceSynchronize)();
  std::printf("status %d x %g\n", status, x[kCount - 1]);
}
