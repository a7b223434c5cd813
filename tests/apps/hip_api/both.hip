#include <hip/hip_runtime.h>

#include <cstdio>

void runCuda();

__device__ int factor = 3;

__global__ void scale(int* out) { out[threadIdx.x] = threadIdx.x * factor; }

int main() {
  int* device = nullptr;
  int host[64] = {};
  runCuda();
  (void)hipMalloc(&device, sizeof host);
  scale<<<1, 64>>>(device);
  (void)hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost);
  std::printf("HIP: %d, %s\n", host[63], hipGetErrorName(hipGetLastError()));
  (void)hipFree(device);
  runCuda();
}
