// Every place where a kernel calls a lambda has the constants of the closure that is called there.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

#define JIT __attribute__((annotate("jit")))

static void section(const char* name) {
  cudaDeviceSynchronize();
  printf("= %s\n", name);
  fflush(stdout);
}

template <typename F, typename G> JIT __global__ void two(F f, G g) {
  f();
  g();
}

/// As libraries do that make lambdas for others.
static auto makeAdder(int by, double* x) {
  return [by = proteus::jit_variable(by), x] __device__() { *x += by; };
}
static auto makeRegistered(int by, double* x) { return proteus::register_lambda(makeAdder(by, x)); }
template <typename F> auto forwarded(F&& f) { return proteus::register_lambda(std::forward<F>(f)); }

template <typename F> struct Three {
  F first, second, third;
};
template <typename F> JIT __global__ void three(Three<F> all) {
  all.first();
  all.second();
  all.third();
}

template <typename K, typename... A>
__attribute__((noinline)) static void launchThrough(K kernel, A... arguments) {
  void* pointers[] = {&arguments...};
  (void)cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), pointers, 0, 0);
  cudaDeviceSynchronize();
}

/// Privatizes its lambda, as RAJA does.
template <typename F> struct Privatizer {
  F body;
  __device__ F copy() const { return body; }
};
template <typename F> __device__ Privatizer<F> privatize(const F& f) { return {f}; }
template <typename F> JIT __global__ void privatized(F f) {
  auto privatizer = privatize(f);
  auto body = privatizer.copy();
  body();
}

/// The address of the closure goes through memory and numbers.
template <typename F> struct Holder {
  const F* f;
};
template <typename F> __attribute__((noinline)) __device__ void callHeld(const Holder<F>& held) {
  (*held.f)();
}
template <typename F> JIT __global__ void throughMemory(F f, F g) {
  Holder<F> held{&f};
  callHeld(held);
  const auto number = reinterpret_cast<uintptr_t>(&g) + 8;
  (*reinterpret_cast<const F*>(number - 8))();
}

template <typename F> JIT __global__ void sameOnBothPaths(F f, F uncalled, int n) {
  const F* chosen = n > 1 ? &f : &f;
  (*chosen)();
}

/// Which one is called is known at run time only: neither has constants.
template <typename F> JIT __global__ void eitherOne(F f, F g, int n) {
  const F* chosen = &f;
  if (n > 1)
    chosen = &g;
  (*chosen)();
}

/// Its closure is in memory; that in the argument has other values.
template <typename F> JIT __global__ void fromMemory(F unused, const F* f) { (*f)(); }

/// Keeps what it changes.
template <typename F> JIT __global__ void twice(F f) {
  f();
  f();
}

int main() {
  double* x;
  cudaMallocManaged(&x, sizeof(double));
  *x = 0;

  section("two lambdas");
  int a = 1, b = 2;
  auto first = [a = proteus::jit_variable(a), x] __device__() { *x += a; };
  auto second = [b = proteus::jit_variable(b), x] __device__() { *x += 10 * b; };
  two<<<1, 1>>>(proteus::register_lambda(first), proteus::register_lambda(second));

  section("one lambda twice");
  two<<<1, 1>>>(makeRegistered(24, x), makeRegistered(42, x));
  cudaDeviceSynchronize();
  two<<<1, 1>>>(makeRegistered(42, x), makeRegistered(24, x));

  section("struct of three");
  auto one = makeRegistered(5, x);
  launchThrough(three<decltype(one)>,
                Three<decltype(one)>{one, forwarded(makeAdder(6, x)), makeRegistered(7, x)});

  section("privatized");
  bool isOn = false;
  int count = 3;
  auto three = [x, count = proteus::jit_variable(count),
                isOn = proteus::jit_variable(isOn)] __device__() { *x += isOn ? 1000 : count; };
  privatized<<<1, 1>>>(proteus::register_lambda(three));

  section("through memory");
  throughMemory<<<1, 1>>>(makeRegistered(11, x), makeRegistered(12, x));

  section("same on both paths");
  for (int uncalled = 0; uncalled < 3; ++uncalled)
    sameOnBothPaths<<<1, 1>>>(makeRegistered(77, x), makeRegistered(uncalled, x), 5);

  section("either one");
  eitherOne<<<1, 1>>>(makeRegistered(100, x), makeRegistered(200, x), 5);

  section("from memory");
  auto* stored = &one;
  cudaMallocManaged(&stored, sizeof(one));
  new (stored) auto(makeRegistered(300, x));
  fromMemory<<<1, 1>>>(makeRegistered(400, x), stored);

  section("changes itself");
  auto counting = [n = proteus::jit_variable(1), x] __device__() mutable { *x += n++; };
  twice<<<1, 1>>>(proteus::register_lambda(counting));

  section("as it was registered before");
  proteus::register_lambda(first);
  two<<<1, 1>>>(first, second);

  section("end");
  printf("x %g %d\n", *x, static_cast<int>(cudaGetLastError()));
}
