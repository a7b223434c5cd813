// What the host is told of the GPU, beside what the kernel knows.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void tell(int* out) { *out = warpSize; }

int main() {
  hipDeviceProp_t properties;
  int* device = nullptr;
  int inKernel = 0;
  if (hipGetDeviceProperties(&properties, 0) != hipSuccess ||
      hipMalloc(&device, sizeof(int)) != hipSuccess)
    return 1;
  tell<<<1, 1>>>(device);
  if (hipMemcpy(&inKernel, device, sizeof(int), hipMemcpyDeviceToHost) != hipSuccess)
    return 2;
  std::printf("%s %d.%d: %d %d\n", properties.gcnArchName, properties.major, properties.minor,
              properties.warpSize, inKernel);
}
