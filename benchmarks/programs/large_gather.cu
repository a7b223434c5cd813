// Reads little of a large table: 256 blocks of 4 KiB, at places that a small array of the device
// names. usage: large_gather [MEBIBYTES], 4096 unless told
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

constexpr int kPlaces = 256, kWords = 512;

/// The content of the table: no two words alike, so that it cannot be compressed.
__host__ __device__ unsigned long long wordAt(size_t i) {
  unsigned long long word = (i + 1) * 0x9E3779B97F4A7C15u;
  word = (word ^ (word >> 31)) * 0xBF58476D1CE4E5B9u;
  return word ^ (word >> 27);
}

__global__ void fill(unsigned long long* table, size_t words) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words;
       i += gridDim.x * size_t(blockDim.x))
    table[i] = wordAt(i);
}

__global__ void gather(const unsigned long long* table, const size_t* places,
                       unsigned long long* sums) {
  __shared__ unsigned long long part[kWords];
  part[threadIdx.x] = table[places[blockIdx.x] + threadIdx.x];
  __syncthreads();
  for (int width = kWords / 2; width > 0; width /= 2) {
    if (threadIdx.x < width)
      part[threadIdx.x] += part[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    sums[blockIdx.x] = part[0];
}

int main(int argc, char** argv) {
  const size_t words = (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4096) << 17;
  unsigned long long *table, *sums, found[kPlaces];
  size_t *places, chosen[kPlaces];
  for (int i = 0; i < kPlaces; ++i)
    chosen[i] = wordAt(i) % (words / kWords) * kWords;
  if (cudaMalloc(&table, words * 8) != cudaSuccess ||
      cudaMalloc(&sums, sizeof found) != cudaSuccess ||
      cudaMalloc(&places, sizeof chosen) != cudaSuccess) {
    std::puts("no memory");
    return 1;
  }
  cudaMemcpy(places, chosen, sizeof chosen, cudaMemcpyHostToDevice);
  fill<<<1024, 256>>>(table, words);
  gather<<<kPlaces, kWords>>>(table, places, sums);
  cudaMemcpy(found, sums, sizeof found, cudaMemcpyDeviceToHost);
  for (int i = 0; i < kPlaces; ++i) {
    unsigned long long sum = 0;
    for (int k = 0; k < kWords; ++k)
      sum += wordAt(chosen[i] + k);
    if (sum != found[i]) {
      std::puts("FAILED");
      return 1;
    }
  }
  std::puts("PASSED");
}
