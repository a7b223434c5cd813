// Marks what is to be recorded of it.
#include <cstdio>

#include <mneme/record.hpp>

__global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }
__global__ void shift(float* x, float a) { x[threadIdx.x] += a; }

int main() {
  float *x, host[32] = {1};
  cudaMalloc(&x, sizeof(host));
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  const auto both = [&](float a) {
    scale<<<1, 32>>>(x, a);
    shift<<<1, 32>>>(x, a);
  };
  both(1);
  {
    mneme::recording section("inside", "scale");
    both(2);
  }
  both(3);
  cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
}
