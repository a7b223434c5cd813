// Marks at the edges of what they can say: unsigned counts, much shared memory, long names.
#include <cstdio>
#include <cuda_runtime.h>
#include <proteus/JitInterface.h>
#define LONG_NAME(part) part##part##part##part##part##part##part##part##part##part
#define LONGER_NAME(part) LONG_NAME(part)
__device__ int LONGER_NAME(a_name_of_forty_characters_that_is_long_aaaaaaaaaa_bbbbbbbbbb) = 3;
__global__ void bytes(const int* v, unsigned char n, int* out) {
  proteus::jit_array(v, n);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += v[i];
  *out = sum;
}
__global__ void words(const int* v, unsigned short n, int* out) {
  proteus::jit_array(v, n);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += v[i];
  *out = sum;
}
#define IN_JSON R"({"arg": 1, "type": 11, "arrinfo": {"elt-type": 3, "num-elts-pos": 1, "num-elts-type": 2}})"
__attribute__((annotate("jit", IN_JSON))) __global__ void json(const int* v, unsigned char n, int* out) {
  *out = v[n - 1];
}
__attribute__((annotate("jit", 1))) __global__ void shared(int n, int* out) {
  extern __shared__ int cells[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) cells[i] = i;
  __syncthreads();
  if (threadIdx.x == 0) *out = cells[n - 1];
}
int main() {
  int *v, *out;
  cudaMallocManaged(&v, 40000 * sizeof(int));
  cudaMallocManaged(&out, sizeof(int));
  for (int i = 0; i < 40000; ++i) v[i] = i % 7;
  const auto show = [&](const char* name) { cudaDeviceSynchronize(); printf("%s %d\n", name, *out); };
  bytes<<<1, 1>>>(v, 200, out); show("bytes");
  words<<<1, 1>>>(v, 40000, out); show("words");
  json<<<1, 1>>>(v, 250, out); show("json");
  shared<<<1, 64, 60000>>>(15000, out); show("shared");
  printf("error %d\n", static_cast<int>(cudaGetLastError()));
}
