// A kernel that calls a device function of another source.
#include <hip/hip_runtime.h>

#include <cstdio>

__device__ int doubled(int value);

__global__ void doubleAll(int* values) { values[threadIdx.x] = doubled(values[threadIdx.x]); }

int main() {
  int host[64];
  for (int index = 0; index < 64; ++index)
    host[index] = index;
  int* device = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&device), sizeof(host)) != hipSuccess ||
      hipMemcpy(device, host, sizeof(host), hipMemcpyHostToDevice) != hipSuccess)
    return 1;
  doubleAll<<<1, 64>>>(device);
  if (hipMemcpy(host, device, sizeof(host), hipMemcpyDeviceToHost) != hipSuccess)
    return 2;
  std::puts(host[63] == 126 ? "PASSED" : "FAILED");
}
