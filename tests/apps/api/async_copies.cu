// Copies that threads do not wait for: pipelines, barriers that count bytes, a warp that loads for
// another one.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "check.h"

namespace cg = cooperative_groups;

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int tile = 64;
constexpr int tiles = 6;

/// Two tiles are under way while a third is read.
__global__ void pipelined(const float* input, float* output) {
  constexpr int stages = 2;
  using State = cuda::pipeline_shared_state<cuda::thread_scope_block, stages>;
  __shared__ float buffer[stages][tile];
  __shared__ alignas(State) unsigned char storage[sizeof(State)];
  const cg::thread_block block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, reinterpret_cast<State*>(storage));
  int fetched = 0;
  for (int current = 0; current < tiles; ++current) {
    for (; fetched < tiles && fetched < current + stages; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, buffer[fetched % stages], input + fetched * tile,
                         sizeof(float) * tile, pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    output[current * tile + threadIdx.x] = buffer[current % stages][tile - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
}

/// Aligned copies of known size are bulk copies from sm_90 on.
__global__ void bulk(const float4* input, float4* output) {
  __shared__ alignas(16) float4 buffer[tile];
  __shared__ alignas(BlockBarrier) unsigned char storage[sizeof(BlockBarrier)];
  BlockBarrier& barrier = *reinterpret_cast<BlockBarrier*>(storage);
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() == 0)
    init(&barrier, block.size());
  block.sync();
  cuda::memcpy_async(block, buffer, input, cuda::aligned_size_t<16>(sizeof buffer), barrier);
  barrier.arrive_and_wait();
  output[threadIdx.x] = buffer[tile - 1 - threadIdx.x];
}

/// Named barriers: the first warp fills a buffer, and goes on to the other one.
__global__ void specialised(const float* input, float* output) {
  __shared__ float buffer[2][32];
  const int lane = threadIdx.x % 32;
  for (int round = 0; round < tiles; ++round) {
    const int full = 1 + round % 2;
    const int empty = 3 + round % 2;
    if (threadIdx.x < 32) {
      if (round >= 2)
        asm volatile("bar.sync %0, 64;" ::"r"(empty) : "memory");
      buffer[round % 2][lane] = input[round * 32 + lane];
      asm volatile("bar.arrive %0, 64;" ::"r"(full) : "memory");
    } else {
      asm volatile("bar.sync %0, 64;" ::"r"(full) : "memory");
      output[round * 32 + lane] = buffer[round % 2][31 - lane];
      if (round + 2 < tiles)
        asm volatile("bar.arrive %0, 64;" ::"r"(empty) : "memory");
    }
  }
}

int main() {
  Buffer<float> input(tile * tiles), output(tile * tiles);
  for (int i = 0; i < tile * tiles; ++i)
    input[i] = static_cast<float>(i);
  input.upload();
  pipelined<<<1, tile>>>(input.device(), output.device());
  expectLaunched();
  output.download();
  for (int i = 0; i < tile * tiles; ++i)
    check(output[i] == input[i / tile * tile + tile - 1 - i % tile], "a pipeline");

  bulk<<<1, tile>>>(reinterpret_cast<const float4*>(input.device()),
                    reinterpret_cast<float4*>(output.device()));
  expectLaunched();
  output.download();
  for (int i = 0; i < tile * 4; ++i)
    check(output[i] == input[(tile - 1 - i / 4) * 4 + i % 4], "a bulk copy");

  specialised<<<1, 64>>>(input.device(), output.device());
  expectLaunched();
  output.download();
  for (int i = 0; i < 32 * tiles; ++i)
    check(output[i] == input[i / 32 * 32 + 31 - i % 32], "a warp that loads for another one");
  return finish("async_copies");
}
