// Closures as arguments of kernels: values they are registered with become constants.
#include <cstdio>
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

template <typename F> __attribute__((annotate("jit"))) __global__ void apply(F f, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    f(i);
}

template <typename F> void forAll(int n, F&& f) {
  proteus::register_lambda(f);
  apply<<<1, 32>>>(f, n);
  cudaDeviceSynchronize();
}

/// As some libraries do: the kernel works on a copy and hands it on by reference.
template <typename F> __device__ void call(const F& f, int i) { f(i); }
template <typename F> __attribute__((annotate("jit"))) __global__ void applyCopy(F f, int n) {
  F copy = f;
  if (threadIdx.x < n)
    call(copy, threadIdx.x);
}

/// Two closures of one type.
template <typename F> __attribute__((annotate("jit"))) __global__ void applyBoth(F f, F g) {
  f(threadIdx.x);
  g(threadIdx.x);
}

__global__ void sums(int n, double* out) {
  proteus::jit_arg(n);
  double* shared = proteus::shared_array<double, 256>(n);
  shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += shared[i];
    *out = sum;
  }
}

int main() {
  double* x;
  cudaMallocManaged(&x, 64 * sizeof(double));
  for (int run = 0; run < 2; ++run) {
    double a = 2.5 + run;
    int shift = 7;
    forAll(64, [=, a = proteus::jit_variable(a), shift = proteus::jit_variable(shift)] __device__(
                   int i) { x[i] = a * i + shift; });
    printf("x %g %g\n", x[1], x[63]);
  }
  float scale = 0.5f;
  auto scaled = proteus::register_lambda(
      [=, scale = proteus::jit_variable(scale)] __device__(int i) { x[i] *= scale; });
  applyCopy<<<1, 64>>>(scaled, 64);
  cudaDeviceSynchronize();
  printf("x %g %g\n", x[1], x[63]);
  // Registered before any is launched.
  const auto make = [](int by, double* y) {
    return proteus::register_lambda(
        [=, by = proteus::jit_variable(by)] __device__(int i) { y[i] += by * i; });
  };
  const auto twice = make(2, x), thrice = make(3, x);
  apply<<<1, 64>>>(twice, 64);
  apply<<<1, 64>>>(thrice, 64);
  cudaDeviceSynchronize();
  printf("x %g %g\n", x[1], x[63]);
  applyBoth<<<1, 64>>>(twice, thrice);
  cudaDeviceSynchronize();
  printf("x %g %g\n", x[1], x[63]);
  sums<<<1, 48>>>(48, x);
  cudaDeviceSynchronize();
  printf("sum %g %d\n", *x, static_cast<int>(cudaGetLastError()));
}
