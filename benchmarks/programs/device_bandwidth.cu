// What this machine copies: on the device, and between it and pinned and pageable host memory.
// Prints one JSON object, bytes per second; a copy on the device counts each byte twice, read and
// written. usage: device_bandwidth [MiB=1024]
#include <algorithm>
#include <chrono>
#include <vector>

#include "common.h"

static double secondsOf(auto&& action) {
  double best = 1e30;
  for (int i = 0; i < 5; ++i) {
    check(cudaDeviceSynchronize(), "synchronise");
    const auto start = std::chrono::steady_clock::now();
    action();
    check(cudaDeviceSynchronize(), "synchronise");
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count());
  }
  return best;
}

int main(int argc, char** argv) {
  const size_t bytes = static_cast<size_t>(argc > 1 ? std::atoi(argv[1]) : 1024) << 20;
  void *first = nullptr, *second = nullptr, *pinned = nullptr;
  check(cudaMalloc(&first, bytes), "cudaMalloc");
  check(cudaMalloc(&second, bytes), "cudaMalloc");
  check(cudaMemset(first, 1, bytes), "cudaMemset");
  check(cudaMallocHost(&pinned, bytes), "cudaMallocHost");
  std::vector<char> pageable(bytes, 1);
  const auto copy = [&](void* to, const void* from, cudaMemcpyKind kind) {
    return bytes /
           secondsOf([&] { check(cudaMemcpyAsync(to, from, bytes, kind, nullptr), "copy"); });
  };
  std::printf("{\"bytes\": %zu, ", bytes);
  std::printf("\"device_copy\": %.6g, ", 2 * copy(second, first, cudaMemcpyDeviceToDevice));
  std::printf("\"pinned_download\": %.6g, ", copy(pinned, first, cudaMemcpyDeviceToHost));
  std::printf("\"pinned_upload\": %.6g, ", copy(first, pinned, cudaMemcpyHostToDevice));
  std::printf("\"pageable_download\": %.6g, ",
              copy(pageable.data(), first, cudaMemcpyDeviceToHost));
  std::printf("\"pageable_upload\": %.6g}\n", copy(first, pageable.data(), cudaMemcpyHostToDevice));
  return 0;
}
