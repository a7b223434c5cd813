// Relocatable device code: what the kernel calls and reads is in callee.hip.
#include <hip/hip_runtime.h>

#include <cstdio>

extern __device__ float factor;
__device__ float twice(float value);

__global__ void scale(float* out) { out[threadIdx.x] = twice(threadIdx.x) * factor; }

int main() {
  float* device = nullptr;
  float host[64] = {};
  if (hipMalloc(&device, sizeof host) != hipSuccess)
    return 1;
  scale<<<1, 64>>>(device);
  if (hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost) != hipSuccess)
    return 2;
  std::printf("thread 63: %g\n", host[63]);
}
