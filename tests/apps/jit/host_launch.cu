// A marked host function launches marked kernels, by name and through a pointer.
#include <cstdio>

#include <proteus/JitInterface.h>

__global__ __attribute__((annotate("jit", 2))) void axpy(float* y, float a, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    y[i] = a * y[i] + 1;
}

__attribute__((annotate("jit", 2))) int launch(float* y, int blocks) {
  axpy<<<blocks, 2>>>(y, 2.0f, 4);
  return cudaDeviceSynchronize();
}

template <typename Kernel>
__attribute__((annotate("jit", 3))) int launch_pointer(Kernel kernel, void** args, int blocks) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(2), args, 0,
                          nullptr);
}

int main() {
  float* y = nullptr;
  cudaMallocManaged(&y, 4 * sizeof(float));
  for (int i = 0; i < 4; ++i)
    y[i] = i;
  int error = launch(y, 2);
  printf("y %d %g %g\n", error, y[0], y[3]);
  error = launch(y, 2);
  printf("y %d %g %g\n", error, y[0], y[3]);
  float a = 3;
  int n = 4;
  void* args[] = {&y, &a, &n};
  error = launch_pointer(axpy, args, 1);
  cudaDeviceSynchronize();
  printf("y %d %g %g\n", error, y[0], y[3]);
}
