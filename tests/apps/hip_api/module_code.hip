// Device code that modules.hip loads. With -DOTHER its kernel of the same name does something else.
#include <hip/hip_runtime.h>

__device__ int step = 3;
__constant__ int bias[2] = {5, 7};
static __device__ int launches; // no host program can name it

struct Factors {
  int first, second;
};

extern "C" __global__ void work(int* data, int count, Factors factors) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
#ifdef OTHER
    data[i] = data[i] * factors.second + step - bias[i & 1];
#else
    data[i] = data[i] * factors.first + factors.second + step + bias[i & 1] + launches;
#endif
}

extern "C" __global__ void alone(int* data, int count, Factors factors) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    data[i] = data[i] * factors.first + factors.second;
}

extern "C" __global__ void count() { ++launches; }

extern "C" __global__ void raise(int by) { step += by; }
