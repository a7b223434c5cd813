// What a marked kernel costs a program: the first launch, launches with further values, and
// launches of what is there. Prints one line of JSON: milliseconds, for hot launches nanoseconds.
// usage: latency [further values=9] [batches=2000]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <proteus/JitInterface.h>

constexpr int kLaunches = 256, kBlock = 32;

__global__ void plain(float* out, float factor, int count) {
  for (int i = 0; i < count; ++i)
    out[threadIdx.x] = out[threadIdx.x] * factor + i;
}

__attribute__((annotate("jit", 3))) __global__ void marked(float* out, float factor, int count) {
  for (int i = 0; i < count; ++i)
    out[threadIdx.x] = out[threadIdx.x] * factor + i;
}

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

template <typename Launch> double first(Launch launch) {
  const auto start = Clock::now();
  launch();
  if (cudaDeviceSynchronize() != cudaSuccess)
    std::exit(2);
  return since(start);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// The time of one launch, in batches so short that no queue fills.
template <typename Launch> double hot(int batches, Launch launch) {
  std::vector<double> times;
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = Clock::now();
    for (int i = 0; i < kLaunches; ++i)
      launch();
    times.push_back(since(start) * 1e6 / kLaunches);
    cudaDeviceSynchronize();
  }
  return median(times);
}

int main(int count, char** arguments) {
  const int values = count > 1 ? std::atoi(arguments[1]) : 9;
  const int batches = count > 2 ? std::atoi(arguments[2]) : 2000;
  float* out = nullptr;
  const double context = first([&] { cudaMalloc(&out, kBlock * sizeof *out); });
  const auto launchPlain = [&] { plain<<<1, kBlock>>>(out, .5f, 4); };
  const auto launchMarked = [&](int value) { marked<<<1, kBlock>>>(out, .5f, value); };
  const double firstPlain = first(launchPlain);
  const double firstMarked = first([&] { launchMarked(4); });
  std::vector<double> further;
  for (int value = 5; value < 5 + values; ++value)
    further.push_back(first([&] { launchMarked(value); }));
  // In turn, so that what else the machine does hits both.
  std::vector<double> hotPlain, hotMarked;
  for (int round = 0; round < 10; ++round) {
    hotPlain.push_back(hot(batches / 10, launchPlain));
    hotMarked.push_back(hot(batches / 10, [&] { launchMarked(4); }));
  }
  std::printf(
      "{\"context\": %.3f, \"first plain\": %.3f, \"first marked\": %.3f, \"second marked\": "
      "%.3f, \"further marked\": %.3f, \"hot plain\": %.1f, \"hot marked\": %.1f}\n",
      context, firstPlain, firstMarked, further.front(), median(further), median(hotPlain),
      median(hotMarked));
}
