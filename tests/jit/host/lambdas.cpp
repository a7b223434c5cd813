// Lambdas: several, nested, generic, registered again.
#include <cstdio>

#include <proteus/JitInterface.h>

#define JIT __attribute__((annotate("jit")))

template <typename F> double registerAndCall(F&& f, double x) {
  auto& same = f;
  proteus::register_lambda(same);
  return f(x);
}

/// Returned through a pointer, which is the first argument then.
struct Result {
  long v[5];
};

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
  // One type, two closures, both registered before either is called.
  auto make = [](int n) {
    return proteus::register_lambda([n = proteus::jit_variable(n)](int v)
                                        JIT { return Result{{v, n, v * n, v + n, v - n}}; });
  };
  auto times6 = make(6), times8 = make(8);
  printf("%ld %ld %ld\n", times6(2).v[2], times8(2).v[2], times6(3).v[2]);
  auto counter =
      proteus::register_lambda([n = proteus::jit_variable(1)]() JIT mutable { return ++n; });
  const int one = counter(), two = counter();
  printf("%d %d\n", one, two);
}
