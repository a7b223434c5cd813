// Threads that copy into memory and fill it, each in its own way and stream, while kernels read
// that memory.
#pragma once

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <unistd.h>

constexpr int kCount = 256, kRow = 32;

__device__ int factors[kCount];

__global__ void mix(int* out, const int* in, int rounds) {
  int sum = 0;
  for (int round = 0; round < rounds; ++round)
    sum = sum * 3 + in[(threadIdx.x + round) % kCount] * factors[round % kCount];
  out[threadIdx.x] = sum;
}

namespace {

constexpr size_t kBytes = kCount * sizeof(int);
constexpr size_t kRowBytes = kRow * sizeof(int), kRows = kCount / kRow;

/// What one of the threads does with `in` or `factors`.
using Change = cudaError_t (*)(int* in, const int* values, cudaStream_t stream);

constexpr Change kChanges[] = {
    [](int* in, const int* values, cudaStream_t stream) {
      return cudaMemcpyAsync(in, values, kBytes, cudaMemcpyHostToDevice, stream);
    },
    [](int* in, const int* values, cudaStream_t stream) {
      return cudaMemsetAsync(in, values[0] & 255, kBytes, stream);
    },
    [](int*, const int* values, cudaStream_t) {
      return cudaMemcpyToSymbol(HIP_SYMBOL(factors), values, kBytes);
    },
    [](int* in, const int* values, cudaStream_t stream) {
      return cudaMemcpy2DAsync(in, kRowBytes, values, kRowBytes, kRowBytes / 2, kRows,
                               cudaMemcpyHostToDevice, stream);
    },
    [](int* in, const int*, cudaStream_t) {
      return cudaMemcpy(in, in + kCount / 2, kBytes / 2, cudaMemcpyDeviceToDevice);
    },
    [](int* in, const int* values, cudaStream_t stream) {
      return cudaMemset2DAsync(in, kRowBytes, values[0] & 127, kRowBytes / 2, kRows, stream);
    },
};

std::atomic<bool> isStopping{false};
std::atomic<int> begun{0}, failed{0}, changes{0};

void keepChanging(Change change, int* in) {
  cudaStream_t stream = nullptr;
  failed += cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess;
  std::vector<int> values(kCount);
  for (int number = 1; !isStopping; ++number) {
    for (int& value : values)
      value = number + static_cast<int>(&value - values.data());
    failed += change(in, values.data(), stream) != cudaSuccess;
    failed += cudaStreamSynchronize(stream) != cudaSuccess;
    begun += number == 1;
    ++changes;
    usleep(50);
  }
}

} // namespace

int main() {
  int *in = nullptr, *out = nullptr;
  failed += cudaMalloc(&in, kBytes) != cudaSuccess;
  failed += cudaMalloc(&out, kBytes) != cudaSuccess;
  std::vector<std::thread> threads;
  for (const Change change : kChanges)
    threads.emplace_back(keepChanging, change, in);
  while (begun < static_cast<int>(threads.size()))
    usleep(1000);
  for (int launch = 1; launch <= 4; ++launch) {
    mix<<<1, kCount>>>(out, in, launch * 50'000);
    failed += cudaDeviceSynchronize() != cudaSuccess;
    for (const int before = changes; changes < before + 50;) // they go on
      usleep(1000);
  }
  isStopping = true;
  for (std::thread& thread : threads)
    thread.join();
  const std::vector<int> ones(kCount, 1);
  failed += cudaMemcpy(in, ones.data(), kBytes, cudaMemcpyHostToDevice) != cudaSuccess;
  failed += cudaMemcpyToSymbol(HIP_SYMBOL(factors), ones.data(), kBytes) != cudaSuccess;
  mix<<<1, kCount>>>(out, in, 7);
  int sum = 0;
  failed += cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost) != cudaSuccess;
  std::printf("sum %d failed %d\n", sum, failed.load());
}
