// How variables are made, what they are called, run-time constants, and instructions by hand.
#include "check.h"

#include <proteus/JitFrontend.h>
#include <tuple>
#include <type_traits>
#include <utility>

using namespace proteus;

static double forms(int Known) {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<double(double)>("forms");
  // Before the function begins, too.
  auto Early = F.declVar<double>("early");
  auto& X = F.getArg<0>();
  F.beginFunction();
  Early = X;
  auto A = F.defVar(1, "a");
  static_assert(std::is_same_v<decltype(A), Var<int>>);
  auto B = F.defVar<double>(2, "b");
  static_assert(std::is_same_v<decltype(B), Var<double>>);
  auto C = F.defVar<size_t>(A, "c");
  static_assert(std::is_same_v<decltype(C), Var<size_t>>);
  auto D = F.defVar(std::pair{4.0f, "d"});
  static_assert(std::is_same_v<decltype(D), Var<float>>);
  auto [E, G, H] = F.defVars(5, std::pair{6.0, "g"}, A);
  static_assert(std::is_same_v<decltype(G), Var<double>>);
  auto Constant = F.defRuntimeConst(Known, "known");
  static_assert(std::is_same_v<decltype(Constant), Var<const int>>);
  auto Wide = F.defRuntimeConst<size_t>(Known);
  static_assert(std::is_same_v<decltype(Wide), Var<const size_t>>);
  auto Paired = F.defRuntimeConst(std::pair{0.5, "paired"});
  static_assert(std::is_same_v<decltype(Paired), Var<const double>>);
  auto [P, Q] = F.defRuntimeConsts(3, std::pair{true, "flag"});
  static_assert(std::is_same_v<decltype(Q), Var<const bool>>);
  auto Copy = F.defVar(Constant);
  static_assert(std::is_same_v<decltype(Copy), Var<int>>);
  Copy += 1;
  auto Alias = A; // the same variable
  Alias = 100;
  H += 1; // a copy of what A was
  auto [Unnamed] = F.declVars<int>();
  Unnamed = A;
  auto Odd = F.defVar(0, "a name with \"quotes\"");
  Odd = 0;
  auto Nameless = F.declVar<int>(""), NamelessToo = F.declVar<int>("");
  Nameless = NamelessToo = 0;
  F.ret(Nameless + Early + A + B + C + D + E + G + H + Constant + Wide + Paired + P + Q + Copy +
        Unnamed + Odd);
  F.endFunction();
  J.print();
  J.printLLVMIR();
  return F(0.25);
}

static void builder() {
  JitModule J("host", kBackend);
  auto& F = J.addFunction<size_t(float)>("by_hand");
  F.beginFunction();
  CodeBuilder& B = F.getCodeBuilder();
  const IRType I32 = TypeMap<unsigned>::get();
  const IRType I64 = TypeMap<size_t>::get();
  auto Result = F.declVar<size_t>("result");
  auto X = F.getArg<0>();
  IRValue* Bits = B.createBitCast(X.loadValue(), I32);
  B.createStore(B.createZExt(Bits, I64), Result.getSlot());
  IRValue* Loaded = B.createLoad(Result.getValueType(), Result.getSlot(), "loaded");
  auto Other = F.declVar<size_t>("other");
  Other.storeValue(Loaded);
  B.createStore(B.getConstantInt(I64, 1), Result.getSlot());
  F.ret(Result + Other);
  F.endFunction();
  check("by hand", F(1.0f), 0x3f800001u);
}

static void hashes() {
  auto Make = [](int Value) {
    auto J = JitModule("host", kBackend);
    auto& F = J.addFunction<int()>("f");
    F.function([&] { F.ret(F.defRuntimeConst(Value)); });
    const uint64_t Before = J.getModuleHash();
    check("value", F(), Value);
    check("hash stays", J.getModuleHash() == Before, true);
    return Before;
  };
  check("equal modules", Make(1) == Make(1), true);
  check("other constants", Make(1) == Make(2), false);
}

int main() {
  check("forms", forms(10), 0.25 + 100 + 2 + 1 + 4 + 5 + 6 + 2 + 10 + 10 + 0.5 + 3 + 1 + 11 + 100);
  builder();
  hashes();
  return report();
}
