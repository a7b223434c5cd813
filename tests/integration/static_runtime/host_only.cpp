// A library without kernels, of a compiler that knows nothing of CUDA.
#include <cuda_runtime.h>

extern "C" int* newNumber() {
  void* number = nullptr;
  return cudaMalloc(&number, sizeof(int)) == cudaSuccess ? static_cast<int*>(number) : nullptr;
}
