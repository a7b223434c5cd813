// What a program is told of a kernel's architecture is what the kernel was compiled for.
#include "check.h"

__global__ void tellArchitecture(int* out) {
#ifdef __CUDA_ARCH__
  *out = __CUDA_ARCH__ / 10;
#endif
}

int main() {
  int* told = nullptr;
  expect(cudaMallocManaged(&told, sizeof *told));
  tellArchitecture<<<1, 1>>>(told);
  expect(cudaDeviceSynchronize());
  cudaFuncAttributes attributes{};
  expect(cudaFuncGetAttributes(&attributes, tellArchitecture));
  check(*told == 80, "the program is built for sm_80");
  check(attributes.ptxVersion == *told, "its kernel's PTX version");
  check(attributes.binaryVersion == *told, "its kernel's binary version");
  return finish("built_for");
}
