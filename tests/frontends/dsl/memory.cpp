// Pointers, references, arrays, atomic operations.
#include "check.h"

#include <proteus/JitFrontend.h>
#include <string>
#include <thread>
#include <vector>

using namespace proteus;

static void pointers() {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<void(double*, const int*, unsigned)>("pointers");
  F.function([&] {
    auto& [P, Table, Index] = F.getArgs();
    P[Index] = Table[0] + Table[1] * 0.5;
    *P = 7;
    *(P + 2) += P[1];
    auto Element = P[3]; // a name for the element
    Element = 4;
    Element *= 2.5;
    auto Copy = F.defVar(P[3], "copy"); // a variable of its own
    Copy = 0;
    auto Q = F.defVar(P + 4);
    *Q = -1;
    Q += 1;
    Q[0] = -2;
    Q[-1] -= 1;
    auto R = F.declVar<double*>("r");
    R.storeAddress((Q + 1).loadAddress());
    *R = -3;
    R = 7 + P;
    *R = -4;
    *(R - 7) += 1;
    F.ret();
  });
  auto& G = J.addFunction<double*(double*, int)>("advance");
  G.function([&] { G.ret(G.getArg<0>() + G.getArg<1>()); });
  auto& H = J.addFunction<float*(float*)>("negative");
  H.function([&] { H.ret(H.getArg<0>() + (H.defVar(1) - 2)); });

  double Data[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const int Table[] = {10, 3};
  F(Data, Table, 8u);
  const double Expected[] = {8, 1, 3, 10, -2, -2, -3, -4, 11.5};
  for (int I = 0; I < 9; ++I)
    check(("element " + std::to_string(I)).c_str(), Data[I], Expected[I]);
  check("returned pointer", G(Data, 3), Data + 3);
  float Floats[2];
  check("negative offset", H(Floats + 1), Floats + 0);
}

static void references() {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<void(int&, double&)>("references");
  F.function([&] {
    auto& [I, D] = F.getArgs();
    I += 2;
    D = I * 1.5;
    auto P = I.getAddress();
    *P += 100;
    auto Local = F.defVar(5, "local");
    auto LocalPointer = Local.getAddress();
    *LocalPointer = 6;
    F.ifThen(Local == 6, [&] { D += Local; });
    auto Reference = LocalPointer[0];
    Reference.storeAddress(P.loadAddress()); // refers to I now
    Reference += 1000;
    F.ret();
  });
  int I = 1;
  double D = 0;
  F(I, D);
  check("int&", I, 1103);
  check("double&", D, 10.5);
}

static void pointersToPointers() {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<void(double**, double*)>("pointersToPointers");
  F.function([&] {
    auto& [PP, Q] = F.getArgs();
    PP[0][1] = 5;       // the first pointer's second number
    auto First = PP[0]; // a name for a pointer that lies there
    *First = First[1] + 1;
    PP[1] = Q; // the second pointer leads where Q does
    PP[1] += 1;
    *PP[1] = 7;
    auto Own = F.defVar(PP[0], "own"); // a pointer of its own
    auto Place = Own.getAddress();
    *Place = Q + 2;
    *Own = 8;
    auto Through = *Place;
    Through[1] = 9;
    auto Whole = F.defVar(2.75);
    auto Part = Whole.convert<const int>();
    Q[4] = Part;
    F.ret();
  });
  double A[2] = {0, 0}, B[5] = {0, 0, 0, 0, 0};
  double* Both[2] = {A, nullptr};
  F(Both, B);
  check("through the first", A[0], 6.0);
  check("second of the first", A[1], 5.0);
  check("the second pointer", Both[1], B + 1);
  check("through the second", B[1], 7.0);
  check("through its own", B[2], 8.0);
  check("through its address", B[3], 9.0);
  check("converted to a constant", B[4], 2.0);
}

template <typename T> static T sumOfArray(AddressSpace Space, bool ShowsCode) {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<T(int)>("sum");
  F.function([&] {
    auto A = F.template declVar<T[]>(16, Space, "g");
    auto I = F.template declVar<int>("I");
    auto S = F.template defVar<T>(0, "S");
    F.forLoop(I, 0, 16, 1, [&] { A[I] = I * 2; });
    A[3] += 100;
    auto First = A.getAddress();
    First[0] = 5;
    *A += 1;
    F.forLoop(I, 0, F.template getArg<0>(), 1, [&] { S += A[I]; });
    F.ret(S);
  });
  if (ShowsCode)
    J.print();
  return F(16);
}

static void atomics() {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<void(int*, unsigned*, float*, double*)>("atomics");
  F.function([&] {
    auto& [I, U, S, D] = F.getArgs();
    auto One = F.defVar(1);
    auto Old = F.atomicAdd(I, One);
    F.atomicSub(I + 1, One);
    F.atomicMax(I + 2, F.defVar(-5));
    F.atomicMin(I + 3, F.defVar(-5));
    F.atomicMax(U, F.defVar(0xfffffff0u));
    F.atomicMin(U + 1, F.defVar(0xfffffff0u));
    F.atomicAdd(S, F.defVar(0.5f));
    F.atomicMax(S + 1, F.defVar(2.5f));
    F.atomicSub(D, F.defVar(0.5));
    F.atomicMin(D + 1, F.defVar(-2.5));
    F.atomicAdd(I[4].getAddress(), Old);
    F.ret();
  });
  int I[] = {41, 0, -7, -3, 1};
  unsigned U[] = {1, 1};
  float S[] = {1, 1};
  double D[] = {1, 1};
  F(I, U, S, D);
  check("add", I[0], 42);
  check("sub", I[1], -1);
  check("max", I[2], -5);
  check("min", I[3], -5);
  check("old", I[4], 42);
  check("unsigned max", U[0], 0xfffffff0u);
  check("unsigned min", U[1], 1u);
  check("float add", S[0], 1.5f);
  check("float max", S[1], 2.5f);
  check("double sub", D[0], 0.5);
  check("double min", D[1], -2.5);

  JitModule K("host", kBackend);
  auto& Count = K.addFunction<void(int*)>("count");
  Count.function([&] {
    auto N = Count.declVar<int>("n");
    Count.forLoop(N, 0, 10000, 1, [&] { Count.atomicAdd(Count.getArg<0>(), 1); });
    Count.ret();
  });
  int Total = 0;
  K.compile();
  Count(&Total);
  std::vector<std::thread> Threads;
  for (int T = 0; T < 4; ++T)
    Threads.emplace_back([&] { Count(&Total); });
  for (auto& Thread : Threads)
    Thread.join();
  check("by threads", Total, 50000);
}

int main() {
  pointers();
  references();
  pointersToPointers();
  check("array", sumOfArray<double>(AddressSpace::DEFAULT, false), 346.0);
  check("local array", sumOfArray<float>(AddressSpace::LOCAL, false), 346.0f);
  check("global array", sumOfArray<double>(AddressSpace::GLOBAL, true), 346.0);
  check("shared array", sumOfArray<int>(AddressSpace::SHARED, true), 346);
  atomics();
  return report();
}
