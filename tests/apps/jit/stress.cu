// Threads that launch a marked kernel and call a marked function with many values in turn.
// usage: stress THREADS LAUNCHES VALUES [ROUNDS=1]
// Each round has other values, begins when there is a line on stdin (not the only one), and prints
// "round N right", or what is wrong.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

constexpr int kWidth = 4;

__host__ __device__ inline unsigned mixed(unsigned value, unsigned other) {
  unsigned mix = value * 2654435761u + other;
  for (unsigned step = 0; step < value % 5; ++step)
    mix = (mix ^ (mix >> 13)) * 2246822519u;
  return mix;
}

__attribute__((annotate("jit", 1))) __global__ void addMixed(unsigned value, unsigned* sums) {
  sums[threadIdx.x] += mixed(value, threadIdx.x);
}

__attribute__((annotate("jit", 1), noinline)) unsigned callMixed(unsigned value, unsigned other) {
  return mixed(value, other);
}

/// Whether every sum of one thread is right.
bool isRight(int thread, int launches, int values, int round) {
  cudaStream_t stream;
  unsigned* sums = nullptr;
  cudaStreamCreate(&stream);
  cudaMallocManaged(&sums, kWidth * sizeof *sums);
  unsigned expected[kWidth] = {}, called = 0, expectedCalled = 0;
  for (int i = 0; i < kWidth; ++i)
    sums[i] = 0;
  for (int launch = 0; launch < launches; ++launch) {
    const unsigned value = round * values + (launch * 13u + thread * 7u) % values;
    addMixed<<<1, kWidth, 0, stream>>>(value, sums);
    called += callMixed(value, launch);
    expectedCalled += mixed(value, launch);
    for (int i = 0; i < kWidth; ++i)
      expected[i] += mixed(value, i);
  }
  bool isRight = cudaStreamSynchronize(stream) == cudaSuccess && called == expectedCalled;
  for (int i = 0; i < kWidth; ++i)
    isRight = isRight && sums[i] == expected[i];
  cudaFree(sums);
  cudaStreamDestroy(stream);
  return isRight;
}

int main(int count, char** arguments) {
  const int threads = std::atoi(arguments[1]), launches = std::atoi(arguments[2]),
            values = std::atoi(arguments[3]), rounds = count > 4 ? std::atoi(arguments[4]) : 1;
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  // Launches of other threads run as built while the first one starts the engine.
  bool areRight = isRight(0, 1, values, 0);
  for (int round = 0; round < rounds; ++round) {
    if (rounds > 1)
      while (const int next = std::getchar())
        if (next == '\n' || next == EOF)
          break;
    std::vector<char> results(threads);
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread)
      all.emplace_back([&, thread] { results[thread] = isRight(thread, launches, values, round); });
    for (std::thread& thread : all)
      thread.join();
    bool isRight = true;
    for (const char result : results)
      isRight = isRight && result;
    std::printf("round %d %s\n", round, isRight ? "right" : "WRONG");
    areRight = areRight && isRight;
  }
  return areRight ? 0 : 1;
}
