// Dies of memory that was not allocated where there is no GPU, as it would without mneme. Its
// argument: "own" has a handler of its own, "sent" gets the signal from itself.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

__global__ void scale(float* values, int count) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count)
    values[index] *= 2;
}

int main(int argc, char** argv) {
  const char* const kind = argc > 1 ? argv[1] : "";
  if (!strcmp(kind, "own"))
    std::signal(SIGSEGV, [](int) { _exit(7); });
  if (!strcmp(kind, "sent"))
    std::raise(SIGSEGV);
  float* values = nullptr;
  cudaMallocManaged(&values, 1024 * sizeof(float));
  for (int index = 0; index < 1024; ++index)
    values[index] = index;
  scale<<<4, 256>>>(values, 1024);
  cudaDeviceSynchronize();
  std::printf("%g\n", values[7]);
}
