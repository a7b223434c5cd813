// Room core/base: a loop over several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace mneme {

/// Calls body(index) for every index below `count` on up to `threads` threads, the caller included.
/// Rethrows the first exception after all threads have ended.
template <typename Body> void parallelFor(uint64_t count, unsigned threads, const Body& body) {
  std::atomic<uint64_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (uint64_t index = next++; index < count; index = next++)
        body(index);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure)
        failure = std::current_exception();
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (uint64_t helper = 1; helper < std::min<uint64_t>(threads, count); ++helper)
      helpers.emplace_back(work);
  } catch (const std::exception&) { // no more threads to be had: fewer do the same work
  }
  work();
  for (std::thread& helper : helpers)
    helper.join();
  if (failure)
    std::rethrow_exception(failure);
}

inline unsigned readerThreads() { return std::clamp(std::thread::hardware_concurrency(), 1u, 16u); }

} // namespace mneme
