// Cooperative groups: blocks, tiles, coalesced threads, and a grid that synchronises.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void tiles(const int* input, int* output) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto quad = cg::tiled_partition<4>(warp);
  const int rank = block.thread_rank();
  int sum = input[rank];
  for (int offset = quad.size() / 2; offset > 0; offset /= 2)
    sum += quad.shfl_down(sum, offset);
  const int whole = cg::reduce(warp, input[rank], cg::plus<int>());
  block.sync();
  output[rank * 4] = quad.shfl(sum, 0);
  output[rank * 4 + 1] = whole;
  output[rank * 4 + 2] = warp.meta_group_rank() * 100 + warp.thread_rank();
  output[rank * 4 + 3] = quad.any(input[rank] == 5);
}

/// Groups whose kind only the running program knows.
__global__ void anyGroup(int* output) {
  cg::thread_group group = cg::this_thread_block();
  group.sync();
  const cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), 16);
  tile.sync();
  output[threadIdx.x] = static_cast<int>(group.size() * 100 + tile.thread_rank() + tile.size());
}

__global__ void coalesced(int* counter, int* sizes) {
  if (threadIdx.x % 3 == 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0)
      base = atomicAdd(counter, static_cast<int>(active.size()));
    base = active.shfl(base, 0);
    sizes[base + active.thread_rank()] = active.size();
  }
}

__global__ void rounds(int* data, int* sums, int count) {
  const cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < 5; ++round) {
    int sum = 0;
    if (grid.thread_rank() == 0) {
      for (int i = 0; i < count; ++i)
        sum += data[i];
      sums[round] = sum;
    }
    grid.sync();
    const int i = static_cast<int>(grid.thread_rank());
    if (i < count)
      data[i] += sums[round] % 7 + 1;
    grid.sync();
  }
}

int main() {
  constexpr int threads = 64;
  Buffer<int> input(threads), output(threads * 4);
  for (int t = 0; t < threads; ++t)
    input[t] = t * t % 11;
  input.upload();
  tiles<<<1, threads>>>(input.device(), output.device());
  expectLaunched();
  output.download();
  for (int t = 0; t < threads; ++t) {
    int quad = 0, warp = 0, hasFive = 0;
    for (int other = t / 4 * 4; other < t / 4 * 4 + 4; ++other)
      quad += input[other], hasFive |= input[other] == 5;
    for (int other = t / 32 * 32; other < t / 32 * 32 + 32; ++other)
      warp += input[other];
    check(output[t * 4] == quad && output[t * 4 + 3] == hasFive, "tile of four");
    check(output[t * 4 + 1] == warp, "reduce over a warp");
    check(output[t * 4 + 2] == t / 32 * 100 + t % 32, "ranks");
  }
  anyGroup<<<1, threads>>>(output.device());
  expectLaunched();
  output.download();
  for (int t = 0; t < threads; ++t)
    check(output[t] == threads * 100 + t % 16 + 16, "groups of any kind");
  Buffer<int> counter(1), sizes(32);
  coalesced<<<1, 32>>>(counter.device(), sizes.device());
  expectLaunched();
  counter.download(), sizes.download();
  check(counter[0] == 11, "coalesced threads");
  int total = 0;
  for (int i = 0; i < 11; ++i)
    total += sizes[i] > 0 && sizes[i] <= 11;
  check(total == 11, "coalesced group size");

  constexpr int blocks = 4, count = blocks * threads;
  Buffer<int> data(count), sums(5);
  int expected[count];
  for (int i = 0; i < count; ++i)
    expected[i] = data[i] = i % 5;
  data.upload();
  int* dataPointer = data.device();
  int* sumPointer = sums.device();
  int size = count;
  void* arguments[] = {&dataPointer, &sumPointer, &size};
  expect(cudaLaunchCooperativeKernel(rounds, dim3(blocks), dim3(threads), arguments, 0, nullptr));
  expectLaunched();
  data.download(), sums.download();
  for (int round = 0; round < 5; ++round) {
    int sum = 0;
    for (const int value : expected)
      sum += value;
    check(sums[round] == sum, "grid synchronisation");
    for (int& value : expected)
      value += sum % 7 + 1;
  }
  for (int i = 0; i < count; ++i)
    check(data[i] == expected[i], "data after grid synchronisation");
  expect(cudaLaunchCooperativeKernel(rounds, dim3(1 << 20), dim3(threads), arguments, 0, nullptr),
         cudaErrorCooperativeLaunchTooLarge);
  cudaGetLastError();
  return finish("groups");
}
