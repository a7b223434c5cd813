// What ends a program, and with which line: one mistake per number.
#include "check.h"

#include <cstdlib>
#include <proteus/JitFrontend.h>

using namespace proteus;

// clang-format off
int main(int, char** Arguments) {
  const int Which = std::atoi(Arguments[1]);
  if (Which == 1) JitModule J("toaster");
  if (Which == 3) JitModule J("host", "gcc");
  if (Which == 4) JitModule J("host_cuda");
  JitModule J("host", kBackend);
  JitModule G("cuda", kBackend);
  if (Which == 5) (void)J.addKernel<void()>("k");
  auto& F = J.addFunction<int(int)>("f");
  if (Which == 6) J.addFunction<void()>("f");
  auto& X = F.getArg<0>();
  auto I = F.declVar<int>("i");
  if (Which == 7) F.endFor();
  if (Which == 8) J.compile();
  F.beginFunction();
  if (Which == 9) F.beginFunction();
  if (Which == 10) F.ret();
  if (Which == 11) F.endFunction();
  if (Which == 12) J.compile();
  if (Which == 13) F.endIf();
  F.beginIf(X < 3);
  if (Which == 14) F.endFor();
  if (Which == 15) F.endWhile();
  F.beginFor(I, 0, X, 1);
  if (Which == 16) F.endIf();
  F.beginWhile([&] { return X < 2; });
  if (Which == 17) F.endFunction();
  if (Which == 18) F.callBuiltin(builtins::gpu::getThreadIdX);
  if (Which == 19) F.callBuiltin(builtins::gpu::syncThreads);
  if (Which == 20) F.declVar<int[]>(4, AddressSpace::CONSTANT, "c");
  if (Which == 21) F.forLoop<EmissionPolicy::Lazy>(I, 0, X, 1).tile(2).unroll();
  if (Which == 22) F.forLoop<EmissionPolicy::Lazy>(I, 0, X, 1).unroll(3).tile(2);
  if (Which == 23) F.call<void(int)>("f", X);
  auto O = F.declVar<int>("o");
  auto Outer = F.forLoop<EmissionPolicy::Lazy>(O, 0, X, 1);
  if (Which == 36) F.buildLoopNest(Outer, F.forLoop<EmissionPolicy::Lazy>(I, 0, O, 1).tile(2)).emit();
  F.endWhile();
  F.endFor();
  F.endIf();
  F.ret(X);
  F.endFunction();
  if (Which == 24) F.ret(X);
  if (Which == 25) F(9);
  auto K = G.addKernel<void(int*)>("k");
  K->function([&] { K->ret(); });
  auto& D = G.addFunction<int()>("d");
  D.function([&] { D.ret(1); });
  if (Which == 26) D();
  if (Which == 27) K.setLaunchBounds(0);
  if (Which < 28) J.compile();
  if (Which == 28) { J.compile(); J.addFunction<void()>("late"); }
  if (Which == 29) { J.compile(); F.declVar<int>("late"); }
  if (Which > 29) {
    JitModule M("host", kBackend);
    auto& C = M.addFunction<int(int)>("c");
    C.beginFunction();
    if (Which == 30) C.call<void()>("nowhere");
    auto& Builder = C.getCodeBuilder();
    auto Mine = C.defVar(1);
    if (Which == 32) Mine = X;
    if (Which == 33) Mine = Mine + X;
    if (Which == 34) C.ret(X);
    if (Which == 35) C.beginFor(I, 0, 1, 1);
    if (Which == 31) Builder.createStore(Builder.getConstantInt({}, 1), C.getArg<0>().getSlot());
    C.ret(C.call<int(int)>("abs", C.getArg<0>()));
    C.endFunction();
    M.compile(true);
  }
  std::cout << "no error" << std::endl;
}
