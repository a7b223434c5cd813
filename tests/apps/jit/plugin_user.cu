// Marked code with a pass plugin (pass_plugin.cpp), whose path is the first argument: without it,
// with it, and without it again.
#include <cstdio>
#include <cuda_runtime.h>
#include <proteus/Init.h>
#include <proteus/JitInterface.h>

__attribute__((annotate("jit", 1))) __global__ void kernel(int number, int* out) {
  *out = number;
}

__attribute__((annotate("jit", 1))) int function(int number, int other) { return number + other; }

static void show(int* out) {
  kernel<<<1, 1>>>(42, out);
  cudaDeviceSynchronize();
  printf("kernel %d function %d\n", *out, function(42, 0));
}

int main(int, char** arguments) {
  int* out;
  cudaMallocManaged(&out, sizeof(int));
  show(out);
  proteus::registerJITPassPlugin(arguments[1], "function(jit-test-pass)");
  proteus::registerJITPassPlugin(arguments[1], "function(jit-test-pass)");
  show(out);
  proteus::clearJITPassPlugins();
  show(out);
}
