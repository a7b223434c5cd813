// Loops that are written later: unrolled, nested, tiled. The order of what runs is in a log.
#include "check.h"

#include <proteus/JitFrontend.h>
#include <string>
#include <vector>

using namespace proteus;

static std::vector<int> Log;
extern "C" void note(int Value) { Log.push_back(Value); }

static std::string takeLog() {
  std::string Text;
  for (int Value : Log)
    Text += (Text.empty() ? "" : " ") + std::to_string(Value);
  Log.clear();
  return Text;
}

int main() {
  JitModule J("host", kBackend);

  auto& Plain = J.addFunction<void(int)>("plain");
  Plain.function([&] {
    auto I = Plain.declVar<int>("i");
    auto Body = [&] { Plain.call<void(int)>("note", I); };
    auto Loop = Plain.forLoop<EmissionPolicy::Lazy>(I, 0, Plain.getArg<0>(), 1, Body);
    Loop.tile(2); // without a nest: nothing
    Loop.emit();
    Plain.forLoop<EmissionPolicy::Lazy>(I, 0, 2, 1, Body).unroll().emit();
    Plain.forLoop<EmissionPolicy::Eager>(I, 7, 8, 1, Body);
    Plain.forLoop(I, 0, 5, 1);
    Plain.call<void(int)>("note", I);
    Plain.ret();
  });

  // Bodies run at their depth.
  auto& Depths = J.addFunction<void()>("depths");
  Depths.function([&] {
    auto [I, K] = Depths.declVars<int, int>("i", "k");
    Depths
        .buildLoopNest(Depths.forLoop<EmissionPolicy::Lazy>(
                           I, 0, 2, 1, [&] { Depths.call<void(int)>("note", I); }),
                       Depths.forLoop<EmissionPolicy::Lazy>(
                           K, 0, 2, 1, [&] { Depths.call<void(int)>("note", 10 + K); }))
        .emit();
    Depths.ret();
  });

  // Tiles first, in order, then points; the last tiles are smaller.
  auto& Tiled = J.addFunction<void()>("tiled");
  Tiled.function([&] {
    auto [I, K, Zero, Three, One] = Tiled.declVars<int, int, int, int, int>();
    Zero = 0;
    Three = 3;
    One = 1;
    auto Outer = Tiled.forLoop<EmissionPolicy::Lazy>(I, Zero, Three, One);
    auto Inner = Tiled.forLoop<EmissionPolicy::Lazy>(
        K, Zero, Three, One, [&] { Tiled.call<void(int)>("note", 10 * I + K); });
    Tiled.buildLoopNest(Outer, Inner).tile(2).emit();
    Tiled.ret();
  });

  // One loop of the nest has tiles, the other one is unrolled; a step of two.
  auto& Half = J.addFunction<void()>("half");
  Half.function([&] {
    auto [I, K] = Half.declVars<size_t, size_t>("i", "k");
    Half.buildLoopNest(Half.forLoop<EmissionPolicy::Lazy>(I, 0, 2, 1).unroll(2),
                       Half.forLoop<EmissionPolicy::Lazy>(
                               K, 0, 7, 2, [&] { Half.call<void(int)>("note", 10 * I + K); })
                           .tile(3))
        .emit();
    Half.ret();
  });

  constexpr int N = 37;
  auto& Product = J.addFunction<void(double*, double*, double*)>("product");
  Product.function([&] {
    auto& [C, A, B] = Product.getArgs();
    auto [I, K, L] = Product.declVars<int, int, int>("i", "k", "l");
    auto Size = Product.defRuntimeConst(N), Zero = Product.defRuntimeConst(0),
         One = Product.defRuntimeConst(1);
    Product
        .buildLoopNest(
            Product.forLoop<EmissionPolicy::Lazy>(I, Zero, Size, One),
            Product.forLoop<EmissionPolicy::Lazy>(K, Zero, Size, One),
            Product.forLoop<EmissionPolicy::Lazy>(
                L, Zero, Size, One, [&] { C[I * Size + K] += A[I * Size + L] * B[L * Size + K]; }))
        .tile(8)
        .emit();
    Product.ret();
  });

  J.print();

  Plain(3);
  check("plain", takeLog(), std::string("0 1 2 0 1 7 5"));
  Depths();
  check("depths", takeLog(), std::string("0 10 11 1 10 11"));
  Tiled();
  check("tiled", takeLog(), std::string("0 1 10 11 2 12 20 21 22"));
  Half();
  check("half", takeLog(), std::string("0 2 4 10 12 14 6 16"));

  std::vector<double> A(N * N), B(N * N), C(N * N), Expected(N * N);
  for (int I = 0; I < N * N; ++I) {
    A[I] = I % 11;
    B[I] = I % 7 - 3;
  }
  for (int I = 0; I < N; ++I)
    for (int K = 0; K < N; ++K)
      for (int L = 0; L < N; ++L)
        Expected[I * N + K] += A[I * N + L] * B[L * N + K];
  Product(C.data(), A.data(), B.data());
  for (int I = 0; I < N * N; ++I)
    check("product", C[I], Expected[I]);
  return report();
}
