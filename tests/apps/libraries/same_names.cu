// Calls two libraries whose kernels have the same name: the linker gives both the stub of the
// first, which launches the kernel that was registered first.
#include <cstdio>
#include <cuda_runtime.h>

extern "C" void first(int* out, int n);
extern "C" void second(int* out, int n);

int main() {
  constexpr int n = 256;
  int *a, *b, hostA[n], hostB[n];
  cudaMalloc(&a, sizeof hostA);
  cudaMalloc(&b, sizeof hostB);
  for (int i = 0; i < 3; ++i) {
    first(a, n);
    second(b, n);
  }
  cudaMemcpy(hostA, a, sizeof hostA, cudaMemcpyDeviceToHost);
  cudaMemcpy(hostB, b, sizeof hostB, cudaMemcpyDeviceToHost);
  std::printf("%d %d %s\n", hostA[n - 1], hostB[n - 1], cudaGetErrorString(cudaGetLastError()));
}
