// __syncthreads and its reducing forms, early returns, fences.
#include "check.h"

__global__ void reduceBlock(const int* input, int* sums) {
  __shared__ int partial[256];
  const int t = threadIdx.x;
  partial[t] = input[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride)
      partial[t] += partial[t + stride];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = partial[0];
}

__global__ void votes(int* results) {
  const int t = threadIdx.x;
  const int odd = __syncthreads_count(t % 2);
  const int all = __syncthreads_and(t < 1000);
  const int notAll = __syncthreads_and(t != 7);
  const int some = __syncthreads_or(t == 7);
  const int none = __syncthreads_or(t < 0);
  if (t == static_cast<int>(blockDim.x) - 1) {
    results[0] = odd;
    results[1] = all != 0;
    results[2] = notAll != 0;
    results[3] = some != 0;
    results[4] = none != 0;
  }
}

__global__ void earlyReturn(int* output, int count) {
  __shared__ int value;
  if (threadIdx.x >= 40)
    return;
  if (threadIdx.x == 0)
    value = count;
  __syncthreads();
  output[threadIdx.x] = value;
}

__device__ unsigned arrivals;

// The last block to arrive adds up what the others published: needs the fence.
__global__ void lastBlock(const int* input, volatile int* partial, int* total) {
  __shared__ bool isLast;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = input[blockIdx.x] * 2;
    __threadfence();
    isLast = atomicInc(&arrivals, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (isLast && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block)
      sum += partial[block];
    *total = sum;
    __threadfence_block();
    __threadfence_system();
  }
}

int main() {
  constexpr int blocks = 9, threads = 256;
  Buffer<int> input(blocks * threads), sums(blocks);
  for (int index = 0; index < blocks * threads; ++index)
    input[index] = index % 17 - 3;
  input.upload();
  reduceBlock<<<blocks, threads>>>(input.device(), sums.device());
  expectLaunched();
  sums.download();
  for (int block = 0; block < blocks; ++block) {
    int sum = 0;
    for (int t = 0; t < threads; ++t)
      sum += input[block * threads + t];
    check(sums[block] == sum, "block sum");
  }
  for (const int size : {1, 33, 100, 1024}) {
    Buffer<int> results(5);
    votes<<<1, size>>>(results.device());
    expectLaunched();
    results.download();
    check(results[0] == size / 2, "count");
    check(results[1] == (size <= 1000), "and");
    check(results[2] == (size <= 7), "and with one false");
    check(results[3] == (size > 7), "or");
    check(results[4] == 0, "or of nothing");
  }
  Buffer<int> output(64);
  earlyReturn<<<1, 64>>>(output.device(), 11);
  expectLaunched();
  output.download();
  for (int t = 0; t < 64; ++t)
    check(output[t] == (t < 40 ? 11 : 0), "early return");
  Buffer<int> partial(blocks), total(1);
  for (int round = 0; round < 3; ++round) {
    lastBlock<<<blocks, 32>>>(input.device(), partial.device(), total.device());
    expectLaunched();
  }
  total.download();
  int expected = 0;
  for (int block = 0; block < blocks; ++block)
    expected += 2 * input[block];
  check(total[0] == expected, "last block");
  return finish("barriers");
}
