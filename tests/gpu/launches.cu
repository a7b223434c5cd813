// A kernel that launches kernels, as CUDA's samples of dynamic parallelism do, and one that does not.
//
//   nvcc -rdc=true launches.cu -lcudadevrt
#include <cstdio>

__global__ void child(int* out, int value) { out[threadIdx.x] = value + threadIdx.x; }
__global__ void parent(int* out, int depth) {
  if (threadIdx.x == 0 && depth > 0) {
    child<<<1, 32>>>(out + 32 * depth, depth);
    parent<<<1, 32>>>(out, depth - 1);
  }
}
__global__ void plain(int* out) { out[threadIdx.x] += 1; }

int main() {
  constexpr int kDepth = 3, kCount = 32 * (kDepth + 1);
  int* out = nullptr;
  int host[kCount], sum = 0;
  cudaMalloc(&out, sizeof(host));
  cudaMemset(out, 0, sizeof(host));
  parent<<<1, 32>>>(out, kDepth);
  plain<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  for (int at = 0; at < kCount; ++at)
    sum += host[at] * (at + 1);
  std::printf("%d %d\n", sum, static_cast<int>(cudaDeviceSynchronize()));
}
