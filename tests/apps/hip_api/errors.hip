// What is left to be asked for after calls that fail and calls that succeed.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void scale(float* data, float by) { data[threadIdx.x] *= by; }

int main() {
  float* data = nullptr;
  std::printf("malloc %d\n", hipMalloc(&data, 4096));
  std::printf("too much %d\n", hipMalloc(reinterpret_cast<void**>(&data) + 0, size_t{1} << 60));
  std::printf("left %d\n", hipGetLastError());
  std::printf("malloc %d\n", hipMalloc(&data, 4096));
  scale<<<1, 4096>>>(data, 2); // more threads than a block can have
  std::printf("launch %d, then %d\n", hipPeekAtLastError(), hipGetLastError());
  std::printf("then %d\n", hipGetLastError());
  scale<<<1, 4096>>>(data, 2);
  scale<<<1, 64>>>(data, 2);
  std::printf("overwritten %d\n", hipGetLastError());
  scale<<<1, 4096>>>(data, 2);
  std::printf("free %d left %d\n", hipFree(data), hipGetLastError());
  std::printf("foreign %d left %d\n", hipFree(&data), hipGetLastError());
}
