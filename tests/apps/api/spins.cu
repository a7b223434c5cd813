// Threads and blocks that wait for each other in loops of their own, in every direction and way a
// GPU allows as long as all blocks are resident.
#include <cooperative_groups.h>
#include <cstdlib>
#include <cuda/atomic>

#include "check.h"

namespace {

constexpr int kBlocks = 24;
constexpr int kThreads = 64;

__device__ int loadVolatile(const int* p) { return *static_cast<const volatile int*>(p); }
__device__ int loadAtomic(int* p) { return atomicAdd(p, 0); }
__device__ int loadCas(int* p) { return atomicCAS(p, -1, -1); }
__device__ int loadPaused(const int* p) {
  __nanosleep(20);
  return *static_cast<const volatile int*>(p);
}
__device__ int loadRef(int* p) {
  return cuda::atomic_ref<int, cuda::thread_scope_device>(*p).load(cuda::memory_order_acquire);
}
__device__ int loadPtx(const int* p) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ int loadPtxVolatile(const int* p) {
  int value;
  asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ int loadUncached(const int* p) {
  int value;
  asm volatile("ld.global.cv.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ int loadL2(const int* p) { return __ldcg(p); }
__device__ int loadFenced(const int* p) {
  __threadfence();
  return *p;
}
__device__ __noinline__ bool isReady(const int* p, int wanted) {
  return *static_cast<const volatile int*>(p) == wanted;
}
/// Recursive: stays a function.
__device__ __noinline__ int readDeep(const int* p, int depth) {
  return depth == 0 ? *static_cast<const volatile int*>(p) : readDeep(p, depth - 1) + 0 * depth;
}

template <int Way> __device__ int load(int* p) {
  if constexpr (Way == 0)
    return loadVolatile(p);
  else if constexpr (Way == 1)
    return loadAtomic(p);
  else if constexpr (Way == 2)
    return loadCas(p);
  else if constexpr (Way == 3)
    return loadPaused(p);
  else if constexpr (Way == 4)
    return loadRef(p);
  else if constexpr (Way == 5)
    return loadPtx(p);
  else if constexpr (Way == 6)
    return loadPtxVolatile(p);
  else if constexpr (Way == 7)
    return loadUncached(p);
  else if constexpr (Way == 8)
    return loadL2(p);
  else if constexpr (Way == 9)
    return loadFenced(p);
  else if constexpr (Way == 10)
    return readDeep(p, 3);
  else
    return isReady(p, 0) ? 0 : loadVolatile(p);
}
constexpr int kWays = 12;

/// Every block waits for the one behind it.
template <int Way> __global__ void reversed(int* flags, int* out) {
  const int b = blockIdx.x;
  if (threadIdx.x == 0) {
    int behind = 0;
    if (b + 1 < gridDim.x)
      while ((behind = load<Way>(&flags[b + 1])) == 0) {
      }
    out[b] = behind + 1;
    __threadfence();
    atomicExch(&flags[b], behind + 1);
  }
  __syncthreads();
}

/// The same with no barrier and every thread waiting: what would be a plain loop.
template <int Way> __global__ void reversedLoop(int* flags, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int n = gridDim.x * blockDim.x;
  if (i + 1 < n)
    while (load<Way>(&flags[i + 1]) == 0) {
    }
  out[i] = n - i;
  __threadfence();
  atomicExch(&flags[i], 1);
}

template <int Way> __global__ void gridBarrier(int* counter, int* data, int* out) {
  for (int round = 1; round <= 5; ++round) {
    data[blockIdx.x] = round * 100 + blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(counter, 1);
      while (load<Way>(counter) < round * static_cast<int>(gridDim.x)) {
      }
    }
    __syncthreads();
    const int other = *static_cast<volatile int*>(&data[(blockIdx.x + round) % gridDim.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
      out[blockIdx.x] += other;
      __threadfence();
      atomicAdd(counter + 1, 1);
      while (load<Way>(counter + 1) < round * static_cast<int>(gridDim.x)) {
      }
    }
    __syncthreads();
  }
}

/// One thread looks, all learn by shared memory, and the loop has barriers.
__global__ void barrierLoop(int* counter, int* out) {
  __shared__ bool isDone;
  if (threadIdx.x == 0)
    atomicAdd(counter, 1);
  int rounds = 0;
  do {
    if (threadIdx.x == 0)
      isDone = *static_cast<volatile int*>(counter) == static_cast<int>(gridDim.x);
    __syncthreads();
    ++rounds;
    const bool done = isDone;
    __syncthreads();
    if (done)
      break;
  } while (true);
  if (threadIdx.x == 0)
    out[blockIdx.x] = rounds > 0;
}

__global__ void reducedLoop(int* counter, int* out) {
  if (threadIdx.x == 0)
    atomicAdd(counter, 1);
  while (!__syncthreads_or(threadIdx.x == 3 &&
                           *static_cast<volatile int*>(counter) == static_cast<int>(gridDim.x))) {
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = 1;
}

__global__ void warpLoop(int* counter, int* out) {
  if (threadIdx.x % 32 == 0)
    atomicAdd(counter, 1);
  const int wanted = gridDim.x * blockDim.x / 32;
  while (
      !__any_sync(~0u, threadIdx.x % 32 == 7 && *static_cast<volatile int*>(counter) == wanted)) {
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = 1;
}

/// Even blocks make, odd ones take: with `isLate` the makers are behind the takers.
__global__ void pairs(int* mailbox, int* out, bool isLate) {
  const int pair = blockIdx.x / 2;
  const bool makes = (blockIdx.x % 2 == 0) != isLate;
  volatile int* box = mailbox + pair;
  if (threadIdx.x != 0)
    return;
  for (int item = 1; item <= 20; ++item) {
    if (makes) {
      while (*box != 0) {
      }
      *box = item;
    } else {
      int got;
      while ((got = *box) == 0) {
      }
      out[pair] = out[pair] * 3 + got;
      __threadfence();
      *box = 0;
    }
  }
}

__global__ void locked(int* lock, int* out) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0)
      __nanosleep(100);
    __threadfence();
    out[0] = *static_cast<volatile int*>(out) + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

/// Tickets in descending order: the last block goes first.
__global__ void descending(int* turn, int* out) {
  if (threadIdx.x == 0) {
    const int mine = gridDim.x - 1 - blockIdx.x;
    while (atomicAdd(turn, 0) != mine) {
    }
    out[mine] = blockIdx.x;
    __threadfence();
    atomicAdd(turn, 1);
  }
}

/// The last thread of the largest block frees the others.
__global__ void freedByLast(int* flag, int* out) {
  if (threadIdx.x == 1023)
    atomicExch(flag, 1);
  while (loadVolatile(flag) == 0) {
  }
  atomicAdd(out, 1);
}

void run(const void* kernel, const char* name, int blocks, int threads, int expectedOfFirst,
         int which = 0) {
  Buffer<int> flags(blocks * threads + 2), data(blocks * threads), out(blocks * threads);
  int *f = flags.device(), *d = data.device(), *o = out.device();
  bool isLate = which == 1;
  void* two[] = {&f, &o, &isLate};
  void* three[] = {&f, &d, &o};
  expect(cudaLaunchKernel(kernel, blocks, threads, which == 2 ? three : two, 0, nullptr));
  expectLaunched();
  out.download();
  if (out[0] == expectedOfFirst)
    return;
  std::printf("%s: got %d, expected %d\n", name, out[0], expectedOfFirst);
  std::exit(1);
}

template <int Way> void everyWay() {
  run(reinterpret_cast<const void*>(&reversed<Way>), "reversed", kBlocks, kThreads, kBlocks);
  run(reinterpret_cast<const void*>(&reversedLoop<Way>), "reversed loop", 3, kThreads,
      3 * kThreads);
  int sum = 0;
  for (int round = 1; round <= 5; ++round)
    sum += round * 100 + round % kBlocks;
  run(reinterpret_cast<const void*>(&gridBarrier<Way>), "grid barrier", kBlocks, kThreads, sum, 2);
  if constexpr (Way + 1 < kWays)
    everyWay<Way + 1>();
}

} // namespace

int main() {
  everyWay<0>();
  run(reinterpret_cast<const void*>(&barrierLoop), "barrier loop", kBlocks, kThreads, 1);
  run(reinterpret_cast<const void*>(&reducedLoop), "reducing barrier", kBlocks, kThreads, 1);
  run(reinterpret_cast<const void*>(&warpLoop), "vote loop", kBlocks, kThreads, 1);
  int mail = 0;
  for (int item = 1; item <= 20; ++item)
    mail = mail * 3 + item;
  run(reinterpret_cast<const void*>(&pairs), "makers first", kBlocks, kThreads, mail, 0);
  run(reinterpret_cast<const void*>(&pairs), "takers first", kBlocks, kThreads, mail, 1);
  run(reinterpret_cast<const void*>(&locked), "lock", 200, kThreads, 400);
  run(reinterpret_cast<const void*>(&descending), "descending", kBlocks, kThreads, kBlocks - 1);
  run(reinterpret_cast<const void*>(&reversed<0>), "many blocks", 600, kThreads, 600);
  run(reinterpret_cast<const void*>(&gridBarrier<0>), "wide blocks", 20, 1024,
      100 + 200 + 300 + 400 + 500 + 1 + 2 + 3 + 4 + 5, 2);
  run(reinterpret_cast<const void*>(&freedByLast), "last thread", 1, 1024, 1024);
  return finish("spins");
}
