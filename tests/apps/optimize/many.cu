// 30 kernels of which two take nearly all time. These become fifty times as fast and more on any
// machine: with their numbers as constants the loops become one multiplication and one addition. As
// built the first takes milliseconds, more than a busy machine takes from a tuned launch. The first
// argument chooses what is unusual about the program:
//   many          nothing
//   many pid      prints its process number as well
//   many lines    prints another number of lines each time
//   many heavy    aborts if the kernel `heavy` is tuned
//   many wrong    prints another number if kernels are tuned
//   many time     prints how long its kernels took, in whole seconds
//   many clock    prints a time that follows from nothing but how its kernels were compiled
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include <cuda_runtime.h>

template <int Which> __global__ void light(float* data) { data[threadIdx.x] += Which; }

__device__ float churned(float start, int rounds, unsigned factor, unsigned summand) {
  auto value = static_cast<unsigned>(start);
  for (int round = 0; round < rounds; ++round)
    value = value * factor + summand;
  return value & 1023;
}

__global__ void heavy(const float* in, float* out, int n, int rounds, unsigned factor,
                      unsigned summand) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = churned(in[i] + i, rounds, factor, summand);
}

__global__ void middle(float* data, int n, int rounds, unsigned factor, unsigned summand) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    data[i] = churned(data[i], rounds, factor, summand);
}

template <int Which> void launchLight(float* data) {
  light<Which><<<1, 32>>>(data);
  if constexpr (Which > 0)
    launchLight<Which - 1>(data);
}

std::string tunedFile() {
  std::ifstream file(std::getenv("PROTEUS_TUNED_KERNELS"));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A clock that launches, and what else a program does, leave alone.
int milliseconds() {
  const char* file = std::getenv("PROTEUS_TUNED_KERNELS");
  if (file == nullptr)
    return 20;
  return std::string(file).find("recompiled") == std::string::npos ? 5 : 60;
}

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  const int n = 1 << 14;
  std::vector<float> host(n, 1.0f);
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * sizeof(float));
  timespec began{};
  clock_gettime(CLOCK_MONOTONIC, &began);
  for (int step = 0; step < 6; ++step) {
    heavy<<<n / 128, 128>>>(in, out, n, 400, 1664525, 1013904223);
    middle<<<n / 128, 128>>>(out, n, 80, 1103515245, 12345);
    launchLight<27>(in);
  }
  cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  timespec ended{};
  clock_gettime(CLOCK_MONOTONIC, &ended);
  if (cudaGetLastError() != cudaSuccess)
    return 2;
  if (how == "time")
    std::printf("kernels took %ld s\n", static_cast<long>(ended.tv_sec - began.tv_sec));
  if (how == "clock")
    std::printf("kernels took %d ms\n", milliseconds());
  const bool isTuned = std::getenv("PROTEUS_TUNED_KERNELS") != nullptr;
  if (how == "heavy" && isTuned && tunedFile().find("heavy") != std::string::npos)
    std::abort();
  double sum = 0;
  for (const float value : host)
    sum += value;
  std::printf("sum %.6f\n", how == "wrong" && isTuned ? sum + 1 : sum);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (how == "pid")
    std::printf("at %lld by %d\n", static_cast<long long>(now.tv_nsec), getpid());
  for (long line = 0; how == "lines" && line < now.tv_nsec % 1000; ++line)
    std::printf("line %ld\n", line);
}
