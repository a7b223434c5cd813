// Kernels that need more than a GPU gives unasked, after the program set limits: a deep stack, a
// large heap, which the kernel leaves empty.
//
//   limits stack|heap
#include <cstdio>
#include <cstring>

__device__ __noinline__ int deep(const int* numbers, int depth) {
  volatile int frame[32];
  for (int at = 0; at < 32; ++at)
    frame[at] = numbers[(depth + at) % 256];
  return depth == 0 ? frame[3] : deep(numbers, depth - 1) + frame[depth % 32];
}
__global__ void descends(const int* numbers, int* out, int depth) {
  out[threadIdx.x] = deep(numbers, depth + threadIdx.x % 2);
}
__global__ void allocates(const int* numbers, int* out, int mebibytes) {
  int* const block = static_cast<int*>(malloc(static_cast<size_t>(mebibytes) << 20));
  if (block)
    block[threadIdx.x] = numbers[threadIdx.x];
  out[threadIdx.x] = block ? block[threadIdx.x] : -1;
  free(block);
}

int main(int count, char** argv) {
  const bool isStack = count > 1 && std::strcmp(argv[1], "stack") == 0;
  int host[256], sum = 0;
  int *numbers = nullptr, *out = nullptr;
  for (int at = 0; at < 256; ++at)
    host[at] = at * 7 % 31;
  int status = isStack ? cudaDeviceSetLimit(cudaLimitStackSize, 128 << 10)
                       : cudaDeviceSetLimit(cudaLimitMallocHeapSize, 256 << 20);
  cudaMalloc(&numbers, sizeof(host));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemcpy(numbers, host, sizeof(host), cudaMemcpyHostToDevice);
  if (isStack)
    descends<<<1, 64>>>(numbers, out, 300);
  else
    allocates<<<1, 4>>>(numbers, out, 32);
  status += cudaMemcpy(host, out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
  for (int at = 0; at < (isStack ? 64 : 4); ++at)
    sum += host[at] * (at + 1);
  std::printf("%d %d\n", sum, status);
  return status;
}
