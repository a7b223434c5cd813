// Steps through a graph: each launch changes what the last one reached, at first a single place.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void expand(int* level, int count, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && level[i] == step)
    for (int next = i + 1; next <= i + 2 && next < count; ++next)
      if (level[next] == 0)
        level[next] = step + 1;
}

int main(int argc, char** argv) {
  const int count = 1 << 16;
  int* level = nullptr;
  cudaMalloc(&level, count * sizeof(int));
  cudaMemset(level, 0, count * sizeof(int));
  const int one = 1;
  cudaMemcpy(level, &one, sizeof(int), cudaMemcpyHostToDevice);
  const int first = argc > 1 ? atoi(argv[1]) : 1;
  for (int step = first; step < first + 20; ++step)
    expand<<<count / 256, 256>>>(level, count, step);
  int last = 0;
  cudaMemcpy(&last, level + 30, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", last);
  return cudaFree(level);
}
