// Static and dynamic shared memory, together, by type, and beyond 48 KiB.
#include "check.h"

extern __shared__ double dynamicMemory[];

__global__ void both(double* output, int count) {
  __shared__ int fixed[32];
  __shared__ short small[3];
  const int t = threadIdx.x;
  if (t < 32)
    fixed[t] = t * t;
  if (t < 3)
    small[t] = t + 1;
  auto* second = reinterpret_cast<float*>(dynamicMemory + count);
  dynamicMemory[t % count] = t % count;
  second[t % count] = 0.5f;
  __syncthreads();
  output[t] = fixed[t % 32] + dynamicMemory[(t + 1) % count] + second[t % count] + small[t % 3];
}

template <typename T> __global__ void typed(T* output) {
  __shared__ T tile[16][17];
  tile[threadIdx.y][threadIdx.x] = static_cast<T>(threadIdx.y * 16 + threadIdx.x);
  __syncthreads();
  output[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void large(unsigned* output, int words) {
  auto* memory = reinterpret_cast<unsigned*>(dynamicMemory);
  for (int word = threadIdx.x; word < words; word += blockDim.x)
    memory[word] = word;
  __syncthreads();
  unsigned sum = 0;
  for (int word = threadIdx.x; word < words; word += blockDim.x)
    sum += memory[words - 1 - word];
  atomicAdd(output, sum);
}

template <typename T> void testTyped() {
  Buffer<T> output(256);
  typed<T><<<1, dim3(16, 16)>>>(output.device());
  expectLaunched();
  output.download();
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x)
      check(output[y * 16 + x] == static_cast<T>(x * 16 + y), "transposed tile");
}

int main() {
  constexpr int threads = 128, count = 50;
  Buffer<double> output(threads);
  both<<<1, threads, count * (sizeof(double) + sizeof(float))>>>(output.device(), count);
  expectLaunched();
  output.download();
  for (int t = 0; t < threads; ++t)
    check(output[t] == t % 32 * (t % 32) + (t + 1) % count + 0.5 + t % 3 + 1, "static and dynamic");
  testTyped<char>();
  testTyped<float>();
  testTyped<double>();

  constexpr int bytes = 200 * 1024, words = bytes / 4;
  Buffer<unsigned> sum(1);
  large<<<1, 256, bytes>>>(sum.device(), words);
  expect(cudaGetLastError(), cudaErrorInvalidValue);
  expect(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  large<<<1, 256, bytes>>>(sum.device(), words);
  expectLaunched();
  sum.download();
  unsigned expected = 0;
  for (unsigned word = 0; word < words; ++word)
    expected += word;
  check(sum[0] == expected, "200 KiB of shared memory");
  expect(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20),
         cudaErrorInvalidValue);
  cudaGetLastError();
  return finish("shared_memory");
}
