// A library with a kernel that another library has by the same name, with other code.
#include <cuda_runtime.h>

#ifndef VALUE // each library has its own
#define VALUE 0
#define NAME fillFromNowhere
#endif

template <typename T> __global__ void fill(T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = VALUE;
}

extern "C" void NAME(int* out, int n) { fill<int><<<(n + 63) / 64, 64>>>(out, n); }
