// What ends a program: counts and elements of arrays, and values of lambdas, that cannot be. The
// first argument says which.
#include <cstdlib>
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

__global__ void kernel(const int* values, int count, int* out) {
  proteus::jit_array(values, count);
  *out = values[0];
}
__attribute__((noinline)) int ints(const int* values, long count) {
  proteus::jit_array(values, count);
  return values[0];
}
__attribute__((noinline)) long double extended(const long double* values, int count) {
  proteus::jit_array(values, count);
  return values[0];
}
__attribute__((noinline)) const char* names(const char* const* values, int count) {
  proteus::jit_array(values, count);
  return values[0];
}

int main(int, char** arguments) {
  int number = 1, *out;
  long double longNumber = 1;
  const char* name = "name";
  short small = 1;
  cudaMallocManaged(&out, sizeof(int));
  switch (std::atoi(arguments[1])) {
  case 0:
    kernel<<<1, 1>>>(out, 0, out);
    return 0;
  case 1:
    return ints(&number, -7);
  case 2:
    return extended(&longNumber, 1);
  case 3:
    return *names(&name, 1);
  case 4: {
    auto lambda = proteus::register_lambda(
        [=, small = proteus::jit_variable(small)]() __attribute__((annotate("jit"))) {
          return small;
        });
    return lambda();
  }
  }
}
