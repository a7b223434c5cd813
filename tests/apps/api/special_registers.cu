// Thread, block and grid indices, warp size, lane, clocks.
#include "check.h"

struct Seen {
  uint3 thread, block;
  dim3 blockDims, gridDims;
  int warpSize;
  unsigned lane, warp, multiprocessor;
};

__device__ unsigned laneId() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__device__ unsigned multiprocessorId() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

__global__ void look(Seen* seen) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  seen[block * threads + thread] = {threadIdx, blockIdx, blockDim,    gridDim,
                                    warpSize,  laneId(), thread / 32, multiprocessorId()};
}

__global__ void tick(long long* cycles, unsigned long long* nanoseconds) {
  const long long start = clock64();
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  for (int round = 0; round < 1000; ++round)
    asm volatile("");
  cycles[0] = clock64() - start;
  nanoseconds[0] = time;
}

int main() {
  const dim3 grid(3, 2, 2), block(5, 4, 3);
  const int blocks = 12, threads = 60;
  Buffer<Seen> seen(blocks * threads);
  look<<<grid, block>>>(seen.device());
  expectLaunched();
  seen.download();
  cudaDeviceProp properties{};
  expect(cudaGetDeviceProperties(&properties, 0));
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < threads; ++t) {
      const Seen& s = seen[b * threads + t];
      const unsigned ub = b, ut = t;
      check(s.thread.x == ut % 5 && s.thread.y == ut / 5 % 4 && s.thread.z == ut / 20, "threadIdx");
      check(s.block.x == ub % 3 && s.block.y == ub / 3 % 2 && s.block.z == ub / 6, "blockIdx");
      check(s.blockDims.x == 5 && s.blockDims.y == 4 && s.blockDims.z == 3, "blockDim");
      check(s.gridDims.x == 3 && s.gridDims.y == 2 && s.gridDims.z == 2, "gridDim");
      check(s.warpSize == 32 && s.lane == ut % 32, "lane");
      check(s.multiprocessor < static_cast<unsigned>(properties.multiProcessorCount), "smid");
    }
  Buffer<long long> cycles(1);
  Buffer<unsigned long long> nanoseconds(1);
  tick<<<1, 1>>>(cycles.device(), nanoseconds.device());
  expectLaunched();
  cycles.download();
  nanoseconds.download();
  check(cycles[0] > 0, "clock64 advances");
  check(nanoseconds[0] > 0, "globaltimer is set");
  return finish("special_registers");
}
