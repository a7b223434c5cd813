// A library's kernel. NAME is the function that launches it, MORE what it adds.
static __device__ int more = 0;
static __global__ void add(int* number) { *number += more; }

extern "C" int NAME(int* number, cudaStream_t stream) {
  const int added = MORE;
  cudaMemcpyToSymbol(more, &added, sizeof added);
  add<<<1, 1, 0, stream>>>(number);
  return cudaGetLastError();
}
