// A library that is opened while the program runs.
#include <hip/hip_runtime.h>

static __device__ int calls = 2;

__global__ void grow(int* values, int by) {
  if (threadIdx.x == 0)
    ++calls;
  __syncthreads();
  values[threadIdx.x] = values[threadIdx.x] * by + threadIdx.x + calls;
}

extern "C" int run(int by) {
  int *values = nullptr, host[64];
  if (hipMalloc(&values, sizeof host) != hipSuccess ||
      hipMemset(values, 1, sizeof host) != hipSuccess)
    return -1;
  grow<<<1, 64>>>(values, by);
  if (hipMemcpy(host, values, sizeof host, hipMemcpyDeviceToHost) != hipSuccess ||
      hipFree(values) != hipSuccess)
    return -2;
  return host[63];
}
