// A closure for host and device: both run it with the value it is registered with.
#include <cstdio>
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

template <typename F> __attribute__((annotate("jit"))) __global__ void call(F f, int* out) {
  *out = f(2);
}

template <typename F> void callBoth(F&& f, int* out) {
  proteus::register_lambda(f);
  call<<<1, 1>>>(f, out);
  cudaDeviceSynchronize();
  printf("device %d host %d\n", *out, f(3));
}

int main() {
  int* out;
  cudaMallocManaged(&out, sizeof(int));
  int factor = 5;
  callBoth([=, factor = proteus::jit_variable(factor)] __host__ __device__(int i)
               __attribute__((annotate("jit"))) { return factor * i; },
           out);
}
