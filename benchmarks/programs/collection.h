// What the collections of kernels share: memory with reproducible content that compresses well, and
// a line for each launch. Nothing here depends on the order of threads.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "common.h"

constexpr int kThreads = 256;
/// Content repeats after this many elements: recordings of it are small.
constexpr int kPeriod = 4099;

inline unsigned blocksFor(long count, int threads = kThreads) {
  return static_cast<unsigned>((count + threads - 1) / threads);
}

inline __host__ __device__ unsigned mixed(unsigned value) {
  value = (value ^ (value >> 16)) * 0x7feb352du;
  value = (value ^ (value >> 15)) * 0x846ca68bu;
  return value ^ (value >> 16);
}

/// Numbers between 0.1 and 1.6, or integers below `bound`.
template <typename T> T sampleOf(unsigned number, unsigned bound) {
  const unsigned random = mixed(number);
  if constexpr (std::is_floating_point_v<T>)
    return T(0.1) + T(1.5) * T(random >> 8) / T(1 << 24);
  else
    return T(bound ? random % bound : random);
}

template <typename T> class Array {
public:
  Array(long count, unsigned seed, unsigned bound = 0) : count_(count) {
    std::vector<T> host(count);
    for (long i = 0; i < std::min<long>(count, kPeriod); ++i)
      host[i] = sampleOf<T>(seed * 100003u + unsigned(i), bound);
    for (long i = kPeriod; i < count; i += kPeriod)
      std::copy_n(host.begin(), std::min<long>(kPeriod, count - i), host.begin() + i);
    fill(host);
  }
  explicit Array(const std::vector<T>& host) : count_(long(host.size())) { fill(host); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data_); }
  operator T*() const { return data_; }

  /// Waits for a kernel, and prints a sum of some of what it left here.
  void show(const char* name) const {
    std::vector<T> host(std::min<long>(count_, kPeriod));
    const size_t bytes = host.size() * sizeof(T);
    check(cudaMemcpy(host.data(), data_, bytes, cudaMemcpyDeviceToHost), name);
    double sum = 0.0;
    for (const T& value : host)
      sum += double(value);
    std::printf("%s %.8g\n", name, sum);
  }

private:
  void fill(const std::vector<T>& host) {
    check(cudaMalloc(&data_, host.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "fill");
  }

  T* data_ = nullptr;
  long count_ = 0;
};
