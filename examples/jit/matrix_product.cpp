// C = A * B, written twice in PJ-DSL with the tile that the user asks for: for the host as a tiled
// nest of loops, for the GPU with tiles in shared memory, whose inner loop is unrolled.
// usage: matrix_product [size] [tile]
#include <cmath>
#include <vector>

#include "../common.h"

#include <proteus/JitFrontend.h>

using namespace proteus;
using namespace proteus::builtins::gpu;

using Product = void(float*, float*, float*, int);

/// Three loops around one line, all of them cut into tiles.
static auto& writeForHost(JitModule& Module, int TileSize) {
  auto& F = Module.addFunction<Product>("product");
  F.function([&] {
    auto &C = F.getArg<0>(), &A = F.getArg<1>(), &B = F.getArg<2>();
    auto& N = F.getArg<3>();
    auto I = F.declVar<int>("i"), J = F.declVar<int>("j"), K = F.declVar<int>("k");
    auto Zero = F.defRuntimeConst(0), One = F.defRuntimeConst(1);
    F.buildLoopNest(F.forLoop<EmissionPolicy::Lazy>(I, Zero, N, One),
                    F.forLoop<EmissionPolicy::Lazy>(K, Zero, N, One),
                    F.forLoop<EmissionPolicy::Lazy>(
                        J, Zero, N, One, [&] { C[I * N + J] += A[I * N + K] * B[K * N + J]; }))
        .tile(TileSize)
        .emit();
    F.ret();
  });
  return F;
}

/// A block of threads computes a tile of C, each thread one element.
static auto writeForGpu(JitModule& Module, int TileSize) {
  auto Kernel = Module.addKernel<Product>("product");
  Kernel.setLaunchBounds(TileSize * TileSize);
  auto& F = Kernel.F;
  F.function([&] {
    auto &C = F.getArg<0>(), &A = F.getArg<1>(), &B = F.getArg<2>();
    auto& N = F.getArg<3>();
    auto Tile = F.defRuntimeConst(TileSize, "tile");
    auto TileA = F.declVar<float[]>(TileSize * TileSize, AddressSpace::SHARED, "tile_a");
    auto TileB = F.declVar<float[]>(TileSize * TileSize, AddressSpace::SHARED, "tile_b");
    auto X = F.defVar<int>(F.callBuiltin(getThreadIdX), "x");
    auto Y = F.defVar<int>(F.callBuiltin(getThreadIdY), "y");
    auto Column = F.defVar(F.callBuiltin(getBlockIdX).convert<int>() * Tile + X, "column");
    auto Row = F.defVar(F.callBuiltin(getBlockIdY).convert<int>() * Tile + Y, "row");
    auto Sum = F.defVar(0.0f, "sum");
    auto Begin = F.declVar<int>("begin"), K = F.declVar<int>("k");
    auto Place = F.defVar(Y * Tile + X, "place");

    F.forLoop(Begin, 0, N, Tile, [&] {
      TileA[Place] = 0.0f;
      F.ifThen(Row < N,
               [&] { F.ifThen(Begin + X < N, [&] { TileA[Place] = A[Row * N + Begin + X]; }); });
      TileB[Place] = 0.0f;
      F.ifThen(Column < N, [&] {
        F.ifThen(Begin + Y < N, [&] { TileB[Place] = B[(Begin + Y) * N + Column]; });
      });
      F.callBuiltin(syncThreads);
      F.forLoop<EmissionPolicy::Lazy>(K, 0, Tile, 1,
                                      [&] { Sum += TileA[Y * Tile + K] * TileB[K * Tile + X]; })
          .unroll()
          .emit();
      F.callBuiltin(syncThreads);
    });

    F.ifThen(Row < N, [&] { F.ifThen(Column < N, [&] { C[Row * N + Column] = Sum; }); });
    F.ret();
  });
  return Kernel;
}

static bool isClose(const std::vector<float>& values, const std::vector<float>& expected) {
  for (size_t i = 0; i < values.size(); ++i)
    if (!(std::fabs(values[i] - expected[i]) <= 1e-4f * (1 + std::fabs(expected[i]))))
      return false;
  return true;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 150;
  const int tile = argc > 2 ? std::atoi(argv[2]) : 16;
  std::vector<float> a(n * n), b(n * n), expected(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = 0.125f * static_cast<float>(i % 23 - 11);
    b[i] = 0.25f * static_cast<float>(i % 17 - 8);
  }
  for (int row = 0; row < n; ++row)
    for (int k = 0; k < n; ++k)
      for (int column = 0; column < n; ++column)
        expected[row * n + column] += a[row * n + k] * b[k * n + column];

  JitModule HostModule("host");
  auto& OnHost = writeForHost(HostModule, tile);
  std::vector<float> c(n * n);
  OnHost(c.data(), a.data(), b.data(), n);
  const bool isRightOnHost = isClose(c, expected);

  JitModule GpuModule("cuda");
  auto OnGpu = writeForGpu(GpuModule, tile);
  const size_t bytes = a.size() * sizeof(float);
  float *deviceA, *deviceB, *deviceC;
  check(cudaMalloc(&deviceA, bytes), "cudaMalloc a");
  check(cudaMalloc(&deviceB, bytes), "cudaMalloc b");
  check(cudaMalloc(&deviceC, bytes), "cudaMalloc c");
  check(cudaMemcpy(deviceA, a.data(), bytes, cudaMemcpyHostToDevice), "copy a");
  check(cudaMemcpy(deviceB, b.data(), bytes, cudaMemcpyHostToDevice), "copy b");
  const int blocks = (n + tile - 1) / tile;
  check(OnGpu.launch({blocks, blocks}, {tile, tile}, 0, nullptr, deviceC, deviceA, deviceB, n),
        "launch product");
  check(cudaMemcpy(c.data(), deviceC, bytes, cudaMemcpyDeviceToHost), "copy c");
  const bool isRightOnGpu = isClose(c, expected);

  std::printf("matrix_product: %d x %d in tiles of %d, c[n] = %g\n", n, n, tile, c[n]);
  std::printf("host %s, GPU %s\n", isRightOnHost ? "right" : "wrong",
              isRightOnGpu ? "right" : "wrong");
  cudaFree(deviceA);
  cudaFree(deviceB);
  cudaFree(deviceC);
  return report(isRightOnHost && isRightOnGpu);
}
