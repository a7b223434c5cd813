// Contents that become constant lie in memory that only the device reads.
#include <cstdio>
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

struct Shape {
  int scale;
  float offset;
};

__global__ void weigh(const int* weights, int count, const Shape* shape, float* out) {
  proteus::jit_array(weights, count);
  proteus::jit_object(shape);
  float sum = shape->offset;
  for (int i = 0; i < count; ++i)
    sum += weights[i] * shape->scale;
  out[threadIdx.x] = sum;
}

template <typename T> T* onDevice(const T* content, size_t count) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemcpy(memory, content, count * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

int main() {
  int given[] = {1, 2, 3, 4};
  const Shape shape{10, 0.5f};
  int* weights = onDevice(given, 4);
  Shape* shapes = onDevice(&shape, 1);
  float first[8] = {}, *out = onDevice(first, 8);
  for (int run = 0; run < 3; ++run) {
    given[3] = run < 2 ? 4 : 40;
    cudaMemcpy(weights, given, sizeof given, cudaMemcpyHostToDevice);
    weigh<<<1, 8>>>(weights, 4, shapes, out);
    cudaMemcpy(first, out, sizeof first, cudaMemcpyDeviceToHost);
    printf("out %g %d\n", first[7], static_cast<int>(cudaGetLastError()));
  }
}
