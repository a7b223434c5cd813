// Kernels on the CPU device: blocks that share memory, indices, atomic operations, mathematics.
#include "check.h"
#include "vendor.h"

#include <cmath>
#include <cstddef>
#include <proteus/JitFrontend.h>

using namespace proteus;
using namespace builtins::gpu;

struct Dim3 {
  unsigned x, y, z;
};
// As a vendor's header has it, which may be included behind ours.
enum VendorError { VendorSuccess, VendorOutOfMemory };

// The example of the guide: a grid that strides.
static void scaleAndShift() {
  const size_t N = 1000;
  double* X = managed<double>(N);
  for (size_t I = 0; I < N; ++I)
    X[I] = I;
  JitModule J(kTarget, kBackend);
  auto K = J.addKernel<void(double*, double)>("axpb");
  auto& F = K.F;
  auto& [P, A] = F.getArgs();
  F.beginFunction();
  {
    auto Size = F.defRuntimeConst<size_t>(N);
    auto I = F.declVar<size_t>("I"), Stride = F.declVar<size_t>("S");
    Stride = F.callBuiltin(getGridDimX) * F.callBuiltin(getBlockDimX);
    I = F.callBuiltin(getBlockIdX) * F.callBuiltin(getBlockDimX) + F.callBuiltin(getThreadIdX);
    F.beginFor(I, I, Size, Stride);
    {
      P[I] = A * P[I] + 1.0;
    }
    F.endFor();
    F.ret();
  }
  F.endFunction();
  auto Copy = K; // the same kernel
  check("launch", int(Copy.launch({4}, {32}, 0, nullptr, X, 2.0)), 0);
  const VendorError Status = K.launch(Dim3{8, 1, 1}, 64, 0, nullptr, X, 2.0);
  check("launch again", Status == VendorSuccess, true);
  check("compared", DispatchResult(2) == VendorSuccess, false);
  VENDOR(DeviceSynchronize)();
  for (size_t I = 0; I < N; ++I)
    check("axpb", X[I], 4.0 * I + 3.0);
}

// Parameters of every type, none of them where a neighbour of equal size would do.
static void parameters() {
  JitModule J(kTarget, kBackend);
  auto K = J.addKernel<void(bool, const int*, unsigned, double&, bool, float, size_t)>("types");
  auto& F = K.F;
  auto& [First, Table, Index, Out, Second, Factor, Large] = F.getArgs();
  F.beginFunction();
  {
    F.beginIf(First);
    F.beginIf(!Second);
    {
      Out += Table[Index] * Factor + Large;
    }
    F.endIf();
    F.endIf();
    F.ret();
  }
  F.endFunction();
  int* Numbers = managed<int>(3);
  Numbers[2] = -7;
  double* Result = managed<double>(1);
  *Result = 0.5;
  const size_t Huge = size_t(1) << 33;
  check("launch", int(K.launch(1, 1, 0, nullptr, true, Numbers, 2, *Result, false, 1.5f, Huge)), 0);
  check("launch", int(K.launch(1, 1, 0, nullptr, true, Numbers, 2, *Result, true, 1.5f, Huge)), 0);
  VENDOR(DeviceSynchronize)();
  // Table * Factor + Large is in single precision.
  check("parameters", *Result, 0.5 + double(-10.5f + float(Huge)));
}

int main() {
  scaleAndShift();
  parameters();
  JitModule J(kTarget, kBackend);

  auto Sum = J.addKernel<void(float*, float*, size_t)>("block_sum");
  Sum.setLaunchBounds(128, 2);
  Sum->function([&] {
    auto& F = Sum.F;
    auto& [Out, In, N] = F.getArgs();
    auto Shared = F.declVar<float[]>(128, AddressSpace::SHARED, "partial");
    auto Thread = F.callBuiltin(getThreadIdX);
    auto Global =
        F.defVar<size_t>(F.callBuiltin(getBlockIdX) * F.callBuiltin(getBlockDimX) + Thread);
    Shared[Thread] = 0.0f;
    F.ifThen(Global < N, [&] { Shared[Thread] = F.call<float(float)>("weight", In[Global]); });
    F.callBuiltin(syncThreads);
    auto Half = F.defVar<unsigned>(64);
    F.whileLoop([&] { return Half > 0; },
                [&] {
                  F.ifThen(Thread < Half, [&] { Shared[Thread] += Shared[Thread + Half]; });
                  F.callBuiltin(syncThreads);
                  Half /= 2;
                });
    F.ifThen(Thread == 0, [&] { F.atomicAdd(Out, Shared[0]); });
    F.ret();
  });

  auto& Weight = J.addFunction<float(float)>("weight");
  Weight.function([&] {
    auto& X = Weight.getArg<0>();
    Weight.ret(powf(sqrtf(X), 2) + truncf(fabs(X)) * expf(logf(X)) + sinf(X) + cosf(X));
  });

  auto Places = J.addKernel<void(unsigned*)>("places");
  Places->function([&] {
    auto& F = Places.F;
    auto& Out = F.getArg<0>();
    auto Scratch = F.declVar<unsigned[]>(4, AddressSpace::LOCAL, "scratch");
    auto Table = F.declVar<unsigned[]>(4, AddressSpace::GLOBAL, "table");
    Scratch[0] =
        F.callBuiltin(getThreadIdX) + F.callBuiltin(getThreadIdY) + F.callBuiltin(getThreadIdZ);
    Scratch[1] =
        F.callBuiltin(getBlockIdX) + F.callBuiltin(getBlockIdY) + F.callBuiltin(getBlockIdZ);
    Scratch[2] =
        F.callBuiltin(getBlockDimX) + F.callBuiltin(getBlockDimY) + F.callBuiltin(getBlockDimZ);
    Scratch[3] =
        F.callBuiltin(getGridDimX) + F.callBuiltin(getGridDimY) + F.callBuiltin(getGridDimZ);
    auto I = F.declVar<unsigned>("i");
    F.forLoop(I, 0, 4, 1, [&] {
      Table[I] = Scratch[I];
      Out[I] = Table[I];
    });
    F.ret();
  });
  const size_t N = 300;
  float *In = managed<float>(N), *Out = managed<float>(1);
  unsigned* Found = managed<unsigned>(4);
  *Out = 0;
  double Expected = 0;
  for (size_t I = 0; I < N; ++I) {
    const float X = In[I] = 1 + I % 5;
    Expected += X + X * X + std::sin(X) + std::cos(X);
  }
  J.compile(true);
  check("sum", int(Sum.launch({3, 1, 1}, {128, 1, 1}, 0, nullptr, Out, In, N)), 0);
  check("places", int(Places.launch({2, 3, 4}, {5, 6, 7}, 0, nullptr, Found)), 0);
  VENDOR(DeviceSynchronize)();
  check("sum", *Out, Expected);
  check("threads", Found[0] <= 4 + 5 + 6, true);
  check("blocks", Found[1] <= 1 + 2 + 3, true);
  check("sizes of blocks", Found[2], 5u + 6 + 7);
  check("sizes of grids", Found[3], 2u + 3 + 4);
  J.print();
  return report();
}
