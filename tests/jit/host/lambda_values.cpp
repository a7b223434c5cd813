// Lambdas get their own constants, whenever they were made and registered.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>

#include <proteus/JitInterface.h>

#define JIT __attribute__((annotate("jit")))

template <class F> __attribute__((noinline)) static void call(F&& f) { f(); }
template <class F> struct Wrap {
  F f;
  void operator()() const { f(); }
};
template <class F> static void registered(F&& f) { call(proteus::register_lambda(f)); }
template <class F> static void wrapped(F&& f) {
  auto known = proteus::register_lambda(f);
  Wrap<decltype(known)> wrap{known};
  wrap();
}
__attribute__((noinline)) void show(const char* name, long value) {
  printf("%s %ld\n", name, value);
}

static auto makeLambda(long a, long b) {
  return [a = proteus::jit_variable(a), b = proteus::jit_variable(b)]()
             JIT { show("made", 10 * a + b); };
}
static auto makeRegistered(long a, long b) { return proteus::register_lambda(makeLambda(a, b)); }

int main(int argc, char**) {
  const int a = argc * 10, b = argc * 20, c = argc * 30;
  auto A = [=, x = proteus::jit_variable(a)]() JIT { show("A", x); };
  auto B = [=, x = proteus::jit_variable(b)]() JIT { show("B", x); };
  auto C = [=, x = proteus::jit_variable(c)]() JIT { show("C", x); };
  auto plain = [=]() JIT { show("plain", a); };
  registered(plain); // has no variables, and takes none away
  proteus::register_lambda(C);
  proteus::register_lambda(A);
  registered(B);
  A();
  C();
  wrapped(A);

  struct {
    decltype(makeRegistered(0, 0)) first, second;
  } pair{makeRegistered(1, 2), proteus::register_lambda(makeLambda(3, 4))};
  auto moved = std::move(pair);
  moved.second();
  moved.first();
  moved.second();
  const std::function<void()> function = moved.first;
  function();

  // Made by one thread, registered by another, called by a third.
  auto elsewhere = makeLambda(5, 6);
  std::thread([&] { proteus::register_lambda(elsewhere); }).join();
  std::thread([&] { elsewhere(); }).join();

  static long target = 7;
  auto pointer = proteus::register_lambda(
      [number = reinterpret_cast<uintptr_t>(proteus::jit_variable(&target))]()
          JIT { show("number", *reinterpret_cast<long*>(number)); });
  pointer();
  auto direct = proteus::register_lambda([at = proteus::jit_variable(&target)]()
                                             JIT { show("pointer", *at + *at); });
  direct();

  // What cannot be copied stays where it is.
  auto owner = [p = std::make_unique<long>(8), n = proteus::jit_variable(9L)]()
                   JIT { show("owner", *p + n); };
  proteus::register_lambda(owner);
  owner();
}
