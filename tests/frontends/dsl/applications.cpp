// What programs do with kernels that they write themselves, on the CPU device.
#include "check.h"
#include "vendor.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <proteus/JitFrontend.h>
#include <string>
#include <utility>
#include <vector>

using namespace proteus;
using namespace builtins::gpu;

// A module leaves the function that writes it, with the handle of its kernel.
static auto vectorSum(int ThreadsPerBlock, bool HasBounds) {
  auto Module = std::make_unique<JitModule>(kTarget, kBackend);
  auto Kernel = Module->addKernel<void(double*, double*, double*, size_t)>("vectorSum");
  if (HasBounds)
    Kernel.setLaunchBounds(ThreadsPerBlock);
  auto& F = Kernel.F;
  auto Args = F.getArgs();
  auto& C = std::get<0>(Args);
  auto& A = std::get<1>(Args);
  auto& B = std::get<2>(Args);
  auto& N = std::get<3>(Args);
  F.beginFunction();
  {
    auto Threads = F.defRuntimeConst(ThreadsPerBlock, "threads");
    auto Index = F.defVar<size_t>(
        F.callBuiltin(getBlockIdX) * Threads + F.callBuiltin(getThreadIdX), "index");
    F.beginIf(Index < N);
    {
      C[Index] = A[Index] + B[Index];
    }
    F.endIf();
    F.ret();
  }
  F.endFunction();
  return std::make_pair(std::move(Module), Kernel);
}

static void vectorSums() {
  const size_t N = 200;
  double *A = managed<double>(N), *B = managed<double>(N), *C = managed<double>(N);
  for (size_t I = 0; I < N; ++I) {
    A[I] = I;
    B[I] = 2.0 * I;
  }
  const std::pair<int, bool> Variants[] = {{32, false}, {64, false}, {64, true}, {32, false}};
  for (auto [Threads, HasBounds] : Variants) {
    auto [Module, Kernel] = vectorSum(Threads, HasBounds);
    std::fill(C, C + N, 0);
    const unsigned Blocks = (N + Threads - 1) / Threads;
    for (int Time = 0; Time < 3; ++Time)
      check("launch", int(Kernel.launch({Blocks}, {unsigned(Threads)}, 0, nullptr, C, A, B, N)), 0);
    VENDOR(DeviceSynchronize)();
    for (size_t I = 0; I < N; ++I)
      check("vector sum", C[I], 3.0 * I);
  }
}

// Blocks that share tiles of two matrices.
static void matrixProduct() {
  constexpr int kTile = 8, kSize = 24;
  JitModule Module(kTarget);
  auto Kernel = Module.addKernel<void(float*, const float*, const float*)>("product");
  auto& F = Kernel.F;
  F.function([&] {
    auto& C = F.getArg<0>();
    auto& A = F.getArg<1>();
    auto& B = F.getArg<2>();
    auto Size = F.defRuntimeConst(kSize), Tile = F.defRuntimeConst(kTile);
    auto TileA = F.declVar<float[]>(kTile * kTile, AddressSpace::SHARED, "tile_a");
    auto TileB = F.declVar<float[]>(kTile * kTile, AddressSpace::SHARED, "tile_b");
    auto X = F.defVar<int>(F.callBuiltin(getThreadIdX)),
         Y = F.defVar<int>(F.callBuiltin(getThreadIdY));
    auto Column = F.defVar(F.callBuiltin(getBlockIdX).convert<int>() * Tile + X);
    auto Row = F.defVar(F.callBuiltin(getBlockIdY).convert<int>() * Tile + Y);
    auto Sum = F.defVar(0.0f);
    auto T = F.declVar<int>(), K = F.declVar<int>();
    F.forLoop(T, 0, Size, Tile, [&] {
      TileA[Y * Tile + X] = A[Row * Size + T + X];
      TileB[Y * Tile + X] = B[(T + Y) * Size + Column];
      F.callBuiltin(syncThreads);
      F.forLoop<EmissionPolicy::Lazy>(K, 0, Tile, 1,
                                      [&] { Sum += TileA[Y * Tile + K] * TileB[K * Tile + X]; })
          .unroll()
          .emit();
      F.callBuiltin(syncThreads);
    });
    C[Row * Size + Column] = Sum;
    F.ret();
  });
  const int N = kSize * kSize;
  float *A = managed<float>(N), *B = managed<float>(N), *C = managed<float>(N);
  for (int I = 0; I < N; ++I) {
    A[I] = I % 5 - 2;
    B[I] = I % 7;
  }
  const unsigned Blocks = kSize / kTile;
  check("launch", int(Kernel.launch({Blocks, Blocks}, {kTile, kTile}, 0, nullptr, C, A, B)), 0);
  VENDOR(DeviceSynchronize)();
  for (int Row = 0; Row < kSize; ++Row)
    for (int Column = 0; Column < kSize; ++Column) {
      float Sum = 0;
      for (int K = 0; K < kSize; ++K)
        Sum += A[Row * kSize + K] * B[K * kSize + Column];
      check("product", C[Row * kSize + Column], Sum);
    }
}

// Several kernels and a helper in one module.
static void histogram() {
  JitModule Module(kTarget);
  auto& Bin = Module.addFunction<unsigned(int)>("bin");
  Bin.function([&] {
    auto Value = Bin.defVar(Bin.getArg<0>() % 10);
    Bin.ifThen(Value < 0, [&] { Value += 10; });
    Bin.ret(Value);
  });
  auto Clear = Module.addKernel<void(int*)>("clear");
  Clear->function([&] {
    Clear->getArg<0>()[Clear->callBuiltin(getThreadIdX)] = 0;
    Clear->ret();
  });
  auto Count = Module.addKernel<void(int*, int*, int*, int)>("count");
  auto& F = Count.F;
  F.function([&] {
    auto& Bins = F.getArg<0>();
    auto& Extremes = F.getArg<1>();
    auto& Values = F.getArg<2>();
    auto I = F.declVar<int>("i");
    F.forLoop(I, F.callBuiltin(getThreadIdX), F.getArg<3>(), F.callBuiltin(getBlockDimX), [&] {
      auto Place = Bins + F.call<unsigned(int)>("bin", Values[I]);
      F.atomicAdd(Place, F.defVar(1));
      F.atomicMin(Extremes, Values[I]);
      F.atomicMax(Extremes + 1, Values[I]);
    });
    F.ret();
  });
  const int N = 1000;
  int *Bins = managed<int>(10), *Extremes = managed<int>(2), *Values = managed<int>(N);
  std::vector<int> Expected(10);
  for (int I = 0; I < N; ++I) {
    Values[I] = I * I % 777 - 300;
    ++Expected[(Values[I] % 10 + 10) % 10];
  }
  Extremes[0] = Extremes[1] = 0;
  check("launch", int(Clear.launch(1, 10, 0, nullptr, Bins)), 0);
  check("launch", int(Count.launch(1, 64, 0, nullptr, Bins, Extremes, Values, N)), 0);
  VENDOR(DeviceSynchronize)();
  for (int I = 0; I < 10; ++I)
    check("bin", Bins[I], Expected[I]);
  check("least", Extremes[0], *std::min_element(Values, Values + N));
  check("most", Extremes[1], *std::max_element(Values, Values + N));
}

struct Optimiser {
  float *P, *M, *V, *G;
};

static float denominator(int Mode, float V, float Eps) {
  return Mode == 0 ? std::sqrt(V + Eps) : std::sqrt(V) + Eps;
}

// One kernel per mode, which is known when it is written.
static void optimiser(int KnownMode) {
  JitModule Module(kTarget);
  auto Kernel =
      Module.addKernel<void(float*, float*, float*, float*, float, float, size_t)>("adam");
  auto& F = Kernel.F;
  F.beginFunction();
  {
    auto& P = F.getArg<0>();
    auto& M = F.getArg<1>();
    auto& V = F.getArg<2>();
    auto& G = F.getArg<3>();
    auto& B1 = F.getArg<4>();
    auto& B2 = F.getArg<5>();
    auto J = F.declVar<size_t>("j");
    auto T = F.declVar<int>("t");
    auto [Mode, Steps] = F.defRuntimeConsts(KnownMode, std::pair{4, "steps"});
    auto [Zero, One] = F.defVars(0, 1);
    auto Eps = F.defVar(1e-3f, "eps");
    J = F.callBuiltin(getBlockIdX) * F.callBuiltin(getBlockDimX) + F.callBuiltin(getThreadIdX);
    F.beginFor(J, J, F.getArg<6>(), F.callBuiltin(getBlockDimX) * F.callBuiltin(getGridDimX));
    {
      F.beginFor(T, Zero, Steps, One);
      {
        M[J] = B1 * M[J] + (1.f - B1) * G[J];
        V[J] = B2 * V[J] + (1.f - B2) * G[J] * G[J];
        auto Corrected = M[J] / (1.f - powf(B1, T + 1));
        auto Denominator = F.declVar<float>("denominator");
        F.beginIf(Mode == 0);
        {
          Denominator = sqrtf(V[J] + Eps);
        }
        F.endIf();
        F.beginIf(Mode == 1);
        {
          Denominator = sqrtf(V[J]) + Eps;
        }
        F.endIf();
        P[J] -= 0.1f * Corrected / Denominator;
      }
      F.endFor();
    }
    F.endFor();
    F.ret();
  }
  F.endFunction();

  const size_t N = 100;
  Optimiser O{managed<float>(N), managed<float>(N), managed<float>(N), managed<float>(N)};
  for (size_t I = 0; I < N; ++I) {
    O.P[I] = O.M[I] = O.V[I] = 0;
    O.G[I] = 0.5f + I * 0.01f;
  }
  check("launch", int(Kernel.launch(2, 16, 0, nullptr, O.P, O.M, O.V, O.G, 0.9f, 0.99f, N)), 0);
  VENDOR(DeviceSynchronize)();
  for (size_t I = 0; I < N; ++I) {
    float P = 0, M = 0, V = 0;
    const float G = O.G[I];
    for (int T = 0; T < 4; ++T) {
      M = 0.9f * M + (1 - 0.9f) * G;
      V = 0.99f * V + (1 - 0.99f) * G * G;
      P -= 0.1f * (M / (1 - std::pow(0.9f, T + 1))) / denominator(KnownMode, V, 1e-3f);
    }
    check("adam", O.P[I], P);
  }
}

int main() {
  vectorSums();
  matrixProduct();
  histogram();
  optimiser(0);
  optimiser(1);
  return report();
}
