#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void halve(double* values, int count) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index < count)
    values[index] = cbrt(values[index]) / 2;
}

int main() {
  double host[64];
  for (int index = 0; index < 64; ++index)
    host[index] = index * index * index;
  double* device = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&device), sizeof(host)) != hipSuccess ||
      hipMemcpy(device, host, sizeof(host), hipMemcpyHostToDevice) != hipSuccess)
    return 1;
  halve<<<2, 32>>>(device, 64);
  if (hipMemcpy(host, device, sizeof(host), hipMemcpyDeviceToHost) != hipSuccess)
    return 2;
  std::printf("%.1f\n", host[63]);
}
