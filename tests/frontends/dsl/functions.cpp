// Calls of each other, of functions of the process, of mathematics; several modules.
#include "check.h"

#include <proteus/JitFrontend.h>
#include <stdexcept>
#include <string>

using namespace proteus;
using std::string; // min and max of std stay apart
using namespace std;

extern "C" {
double scaled(double Value, int Factor) { return Value * Factor; }
void store(int* Place, int Value) { *Place = Value; }
bool isNegative(float Value) { return Value < 0; }
int* next(int* Place) { return Place + 1; }
int throwing(int Value) {
  if (Value > 1)
    throw runtime_error("thrown");
  return Value;
}
}

static void calls() {
  JitModule J("host", kBackend);
  // The callee comes later.
  auto& Twice = J.addFunction<double(double)>("twice");
  Twice.function([&] { Twice.ret(Twice.call<double(double)>("square", Twice.getArg<0>()) * 2); });
  auto& Square = J.addFunction<double(double)>("square");
  Square.function([&] {
    auto& X = Square.getArg<0>();
    Square.ret(X * X);
  });
  auto& Factorial = J.addFunction<int(int)>("factorial");
  Factorial.function([&] {
    auto& N = Factorial.getArg<0>();
    Factorial.ifThen(N < 2, [&] { Factorial.ret(1); });
    Factorial.ret(N * Factorial.call<int(int)>("factorial", N - 1));
  });
  auto& Seven = J.addFunction<int()>("seven");
  Seven.function([&] { Seven.ret(Seven.defVar(7)); });
  auto& Set = J.addFunction<void(int*, int)>("set");
  Set.function([&] {
    Set.getArg<0>()[0] = Set.getArg<1>();
    Set.ret();
  });
  auto& Use = J.addFunction<int(int*)>("use");
  Use.function([&] {
    auto& P = Use.getArg<0>();
    Use.call<void(int*, int)>("set", P, Use.call<int()>("seven"));
    Use.ret(P[0]);
  });
  auto& Increment = J.addFunction<void(int&)>("increment");
  Increment.function([&] {
    Increment.getArg<0>() += 1;
    Increment.ret();
  });
  auto& UseReference = J.addFunction<int(int)>("use_reference");
  UseReference.function([&] {
    auto V = UseReference.defVar(UseReference.getArg<0>(), "v");
    UseReference.call<void(int&)>("increment", V);
    UseReference.ret(V);
  });
  auto& External = J.addFunction<double(double, int*)>("external");
  External.function([&] {
    auto& [X, P] = External.getArgs();
    auto Y = External.call<double(double, int)>("scaled", X, External.defVar(3.7));
    External.call<void(int*, int)>("store", P, Y);
    auto IsLess = External.call<bool(float)>("isNegative", Y);
    External.ifThen(IsLess, [&] { Y = 0; });
    auto Q = External.call<int*(int*)>("next", P);
    *Q = 5;
    External.ret(Y);
  });
  auto& Passing = J.addFunction<int(int)>("passing");
  Passing.function([&] { Passing.ret(Passing.call<int(int)>("throwing", Passing.getArg<0>())); });

  const string Plain = Twice.getName();
  check("name before", Plain, string("twice"));
  check("twice", Twice(3.0), 18.0);
  check("name behind", Twice.getName() != "twice" && Twice.getName().rfind("twice", 0) == 0, true);
  check("factorial", Factorial(10), 3628800);
  int Place[2] = {};
  check("use", Use(Place), 7);
  check("reference", UseReference(41), 42);
  check("external", External(1.5, Place), 4.5);
  check("stored", Place[0], 4);
  check("behind", Place[1], 5);
  check("external negative", External(-1.5, Place), 0.0);
  check("no exception", Passing(1), 1);
  string Caught;
  try {
    Passing(2);
  } catch (const exception& Thrown) {
    Caught = Thrown.what();
  }
  check("exception", Caught, string("thrown"));
}

static void mathematics() {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<void(float, float, float*)>("mathematics");
  F.function([&] {
    auto& [X, Y, Out] = F.getArgs();
    Out[0] = powf(X, Y);
    Out[1] = sqrtf(X);
    Out[2] = expf(X);
    Out[3] = sinf(X);
    Out[4] = cosf(X);
    Out[5] = fabs(-X);
    Out[6] = truncf(X);
    Out[7] = logf(X);
    Out[8] = absf(Y);
    Out[9] = powf(X, 2);
    Out[10] = powf(Out[9], F.defVar(2));
    Out[11] = min(X, Y);
    Out[12] = max(X, Y);
    Out[13] = max(Out[11], 100.0f);
    F.ret();
  });
  auto& G = J.addFunction<int(int, int)>("integers");
  G.function([&] {
    auto& [A, B] = G.getArgs();
    G.ret(min(A, B) * 1000 + max(A, B));
  });
  const float X = 2.75f, Y = -1.5f;
  float Out[14];
  F(X, Y, Out);
  const float Expected[] = {powf(X, Y), sqrtf(X), expf(X), sinf(X),    cosf(X), X, 2,
                            logf(X),    1.5f,     X * X,   powf(X, 4), Y,       X, 100};
  for (int I = 0; I < 14; ++I)
    check(("mathematics " + to_string(I)).c_str(), Out[I], Expected[I]);
  check("integers", G(-2, 7), -1993);
}

static void modules() {
  JitModule A("host", kBackend), B("host", kBackend);
  auto& One = A.addFunction<int()>("same");
  One.function([&] { One.ret(1); });
  auto& Two = B.addFunction<int()>("same");
  Two.function([&] { Two.ret(2); });
  check("hashes", A.getModuleHash() == B.getModuleHash(), false);
  check("first", One(), 1);
  check("second", Two(), 2);
  check("names", One.getName() == Two.getName(), false);
  check("target", A.getTargetModel() == TargetModelType::HOST, true);

  check("default", JitModule().getTargetModel() == TargetModelType::HOST, true);
  JitModule C("host", kBackend);
  auto& Renamed = C.addFunction<int()>("old");
  Renamed.setName("new");
  Renamed.function([&] { Renamed.ret(3); });
  auto& Calls = C.addFunction<int()>("calls");
  Calls.function([&] { Calls.ret(Calls.call<int()>("new")); });
  check("renamed", Calls(), 3);
  check("kernel", Renamed.isKernel(), false);
}

int main() {
  calls();
  mathematics();
  modules();
  return report();
}
