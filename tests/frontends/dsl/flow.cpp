// Conditions and loops.
#include "check.h"

#include <proteus/JitFrontend.h>

using namespace proteus;

int main() {
  JitModule J("host", kBackend);

  auto& Clamp = J.addFunction<int(int, int, int)>("clamp");
  Clamp.beginFunction();
  {
    auto& [X, Low, High] = Clamp.getArgs();
    Clamp.beginIf(X < Low);
    {
      Clamp.ret(Low);
    }
    Clamp.endIf();
    Clamp.beginIf(X > High);
    {
      Clamp.ret(High);
    }
    Clamp.endIf();
    Clamp.ret(X);
  }
  Clamp.endFunction();

  auto& Collatz = J.addFunction<int(int)>("collatz");
  Collatz.function([&] {
    auto N = Collatz.defVar(Collatz.getArg<0>());
    auto Steps = Collatz.defVar<int>(0, "steps");
    Collatz.beginWhile([&] { return N != 1; });
    {
      auto IsOdd = Collatz.defVar(N % 2 == 1);
      auto Half = N / 2;
      Collatz.ifThen(IsOdd, [&] { N = 3 * N + 1; });
      Collatz.ifThen(!IsOdd, [&] { N = Half; });
      Steps += 1;
    }
    Collatz.endWhile();
    Collatz.ret(Steps);
  });

  auto& Root = J.addFunction<int(int)>("root");
  Root.function([&] {
    auto R = Root.defVar(0, "r");
    Root.whileLoop([&] { return (R + 1) * (R + 1) <= Root.getArg<0>(); }, [&] { R += 1; });
    Root.ret(R);
  });

  // The bound and the step are read once: changing them in the body changes nothing.
  auto& Once = J.addFunction<int(int)>("once");
  Once.function([&] {
    auto [I, N, Step, Count] = Once.declVars<int, int, int, int>("i", "n", "step", "count");
    N = Once.getArg<0>();
    Step = 2;
    Count = 0;
    auto Zero = Once.defRuntimeConst(0);
    Once.beginFor(I, Zero, N, Step);
    {
      N = 0;
      Step = 1;
      Count += 1;
    }
    Once.endFor();
    Once.ret(Count * 100 + I);
  });

  auto& Triangle = J.addFunction<int(int)>("triangle");
  Triangle.function([&] {
    auto I = Triangle.declVar<int>("i");
    auto K = Triangle.declVar<int>("k");
    auto S = Triangle.defVar(0);
    auto Zero = Triangle.defVar(0), One = Triangle.defVar(1);
    Triangle.forLoop(I, Zero, Triangle.getArg<0>(), One, [&] {
      Triangle.forLoop(K, Zero, I, One, [&] { S += K; });
      Triangle.ifThen(I == 5, [&] { Triangle.ret(S); });
    });
    Triangle.ret(S + 1000);
  });

  // Bounds of other types get the type of the index; an index may be an element of an array.
  auto& Mixed = J.addFunction<size_t(int)>("mixed");
  Mixed.function([&] {
    auto I = Mixed.declVar<size_t>("i");
    auto S = Mixed.defVar<size_t>(0, "s");
    auto Place = Mixed.declVar<int[]>(2, AddressSpace::DEFAULT, "place");
    Mixed.forLoop(I, 0, Mixed.getArg<0>(), 1u, [&] { S += I; });
    Mixed.forLoop(Place[1], 0, 3.9, 1, [&] { S += 100; });
    Mixed.ret(S);
  });

  auto& Unsigned = J.addFunction<int(unsigned, unsigned)>("count_unsigned");
  Unsigned.function([&] {
    auto I = Unsigned.declVar<unsigned>("i");
    auto N = Unsigned.defVar(0);
    Unsigned.forLoop(I, Unsigned.getArg<0>(), Unsigned.getArg<1>(), 0x10000000u, [&] { N += 1; });
    Unsigned.ret(N);
  });

  auto& Nothing = J.addFunction<void(int*)>("nothing");
  Nothing.function([&] {
    auto& P = Nothing.getArg<0>();
    *P = 1;
    Nothing.ret();
    *P = 2; // never runs
    auto I = Nothing.declVar<int>("i");
    Nothing.forLoop(I, 0, 3, 1, [&] { *P = 3; });
  });

  check("clamp low", Clamp(-5, 0, 9), 0);
  check("is compiled", J.isCompiled(), true);
  check("clamp", Clamp(5, 0, 9), 5);
  check("clamp high", Clamp(50, 0, 9), 9);
  check("collatz", Collatz(27), 111);
  check("root", Root(99), 9);
  check("once", Once(9), 510);
  check("triangle 4", Triangle(4), 1004);
  check("triangle 10", Triangle(10), 20);
  check("mixed", Mixed(5), 310u);
  check("unsigned", Unsigned(0x70000000u, 0xb0000001u), 5);
  int Value = 0;
  Nothing(&Value);
  check("nothing behind ret()", Value, 1);
  J.compile();
  return report();
}
