// Launches of kernels of one form, each with input of its own, and a hash of what they leave.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kCount = 1024;
constexpr int kThreads = 128;

/// Values between 0.1 and 1.6: in the domain of every function under test.
template <typename T> std::vector<T> values(int count, unsigned seed) {
  std::vector<T> made(count);
  for (T& value : made) {
    seed = seed * 1664525u + 1013904223u;
    value = T(0.1) + T(1.5) * T(seed >> 8) / T(1 << 24);
  }
  return made;
}

template <typename T> T* onDevice(int count, unsigned seed) {
  T* memory = nullptr;
  const std::vector<T> made = values<T>(count, seed);
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemcpy(memory, made.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}

/// Waits, and prints a hash of the bytes.
template <typename T> void show(const char* name, const T* memory, int count) {
  std::vector<T> host(count);
  cudaMemcpy(host.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost);
  uint64_t hash = 14695981039346656037ull;
  for (size_t at = 0; at < count * sizeof(T); ++at)
    hash = (hash ^ reinterpret_cast<const unsigned char*>(host.data())[at]) * 1099511628211ull;
  std::printf("%s %016llx %s\n", name, static_cast<unsigned long long>(hash),
              cudaGetErrorString(cudaGetLastError()));
}

/// A kernel (y, x, more..., n).
template <typename T, typename... Parameters, typename... More>
void launch(const char* name, void (*kernel)(T*, const T*, Parameters...), More... more) {
  T* y = onDevice<T>(kCount, 1);
  T* x = onDevice<T>(kCount * 16, 2);
  kernel<<<kCount / kThreads, kThreads>>>(y, x, more..., kCount);
  show(name, y, kCount);
  cudaFree(x);
  cudaFree(y);
}
