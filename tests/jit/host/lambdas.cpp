// Lambdas: several, nested, generic, registered again.
#include <cstdio>

#include <proteus/JitInterface.h>

#define JIT __attribute__((annotate("jit")))

template <typename F> double registerAndCall(F&& f, double x) {
  auto& same = f;
  proteus::register_lambda(same);
  return f(x);
}

int main() {
  for (int round = 0; round < 3; ++round) {
    int a = 3 + round % 2;
    double b = 2.5;
    bool c = true;
    long d = 7;
    auto first = proteus::register_lambda(
        [=, a = proteus::jit_variable(a), b = proteus::jit_variable(b),
         c = proteus::jit_variable(c)](double x) JIT { return c ? a * x + b + d : 0.0; });
    printf("%g %g\n", first(2.0), first(3.0));
    auto second = [=, d = proteus::jit_variable(d)](double x) JIT { return d * x + a; };
    printf("%g\n", registerAndCall(second, 4.0));
  }
  auto outer = [](int n) {
    int k = 5;
    auto inner = [=, k = proteus::jit_variable(k)](int m) JIT { return k * m + n; };
    proteus::register_lambda(inner);
    return inner(3);
  };
  printf("%d\n", outer(2));
  auto generic =
      proteus::register_lambda([q = proteus::jit_variable(9)](auto v) JIT { return v + q; });
  printf("%d %g\n", generic(1), generic(1.5));
  auto unregistered = [z = proteus::jit_variable(1)](int v) JIT { return v + z; };
  auto other = proteus::register_lambda([x = 5, y = proteus::jit_variable(3)](int v)
                                            JIT { return v + x * y; });
  printf("%d %d\n", unregistered(1), other(1));
}
