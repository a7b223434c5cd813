// For the programs in this directory: each checks its own answers, prints one line per subject, the
// same on every device, and returns how many checks failed.
#pragma once

#include <cstdio>
#include <source_location>

#include <cuda_runtime.h>

inline int failedChecks = 0;

inline void check(bool holds, const char* what,
                  std::source_location at = std::source_location::current()) {
  if (holds)
    return;
  ++failedChecks;
  std::printf("line %u: %s\n", static_cast<unsigned>(at.line()), what);
}

/// A call that has to return `expected`.
inline void expect(cudaError_t status, cudaError_t expected = cudaSuccess,
                   std::source_location at = std::source_location::current()) {
  if (status == expected)
    return;
  ++failedChecks;
  std::printf("line %u: got %s, expected %s\n", static_cast<unsigned>(at.line()),
              cudaGetErrorName(status), cudaGetErrorName(expected));
}

/// After a kernel launch: no launch error, no fault inside the kernel.
inline void expectLaunched(std::source_location at = std::source_location::current()) {
  expect(cudaGetLastError(), cudaSuccess, at);
  expect(cudaDeviceSynchronize(), cudaSuccess, at);
}

inline int finish(const char* program) {
  std::printf("%s: %s\n", program, failedChecks ? "FAILED" : "ok");
  return failedChecks;
}

/// Memory both sides can see, zeroed, with a host-side copy for checking.
template <typename T> class Buffer {
public:
  explicit Buffer(int count) : count_(count), host_(new T[count]()) {
    expect(cudaMalloc(reinterpret_cast<void**>(&device_), count * sizeof(T)));
    expect(cudaMemset(device_, 0, count * sizeof(T)));
  }
  ~Buffer() {
    cudaFree(device_);
    delete[] host_;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* device() { return device_; }
  T* host() { return host_; }
  T& operator[](int index) { return host_[index]; }
  void upload() { expect(cudaMemcpy(device_, host_, count_ * sizeof(T), cudaMemcpyHostToDevice)); }
  void download() {
    expect(cudaMemcpy(host_, device_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
  }

private:
  int count_;
  T* host_;
  T* device_ = nullptr;
};
