// Device printf: formats, order with host output, strings.
#include "check.h"

struct Pair {
  int first;
  double second;
};

__global__ void say(Pair pair, const char* text) {
  printf("int %d %5d|%-5d|%05d %+d %u %x %X %o\n", -7, 42, 42, 42, 42, 3000000000u, 255, 255, 8);
  printf("long %ld %lld %llu %hd %c%%\n", 1234567890123l, -5ll, 18446744073709551615ull,
         static_cast<short>(-3), 'x');
  printf("float %f %.3f %10.2e %g %s\n", 1.5f, 3.14159, 12345.678, 0.0001, "literal");
  printf("pair %d %.2f, width %*d, text %s, nothing\n", pair.first, pair.second, 6, 77, text);
  printf("no arguments\n");
}

__global__ void count() { printf("block %d\n", blockIdx.x); }

__device__ const char message[] = "from the device";

__global__ void fromDevice(int* written) { *written = printf("%s %d\n", message, 3); }

int main() {
  static const char* const host = "host";
  std::printf("before\n");
  std::fflush(stdout);
  char* text = nullptr;
  expect(cudaMallocManaged(&text, 16));
  for (int i = 0; i < 5; ++i)
    text[i] = host[i];
  say<<<1, 1>>>({3, 0.25}, text);
  expectLaunched();
  std::printf("between\n");
  std::fflush(stdout);
  for (int block = 0; block < 3; ++block)
    count<<<1, 1>>>();
  expectLaunched();
  Buffer<int> written(1);
  fromDevice<<<1, 1>>>(written.device());
  expectLaunched();
  written.download();
  check(written[0] == 2, "printf returns the number of arguments");
  expect(cudaFree(text));
  return finish("print");
}
