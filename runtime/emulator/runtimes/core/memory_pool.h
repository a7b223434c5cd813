// Room emulator/runtimes: memory pools. A pool only stores attributes; the heap serves all
// allocations.
#pragma once

#include <atomic>
#include <cstdint>

namespace mneme::cpu_runtime {

class MemoryPool {
public:
  /// Returns the pool that gpuMallocAsync allocates from (the default pool unless the application
  /// set another).
  static void* current();
  static bool isValid(void* handle);

  std::atomic<uint64_t> releaseThresholdBytes{0};
  std::atomic<int> reuse[3] = {1, 1, 1}; ///< event dependencies, opportunistic, internal
};

} // namespace mneme::cpu_runtime
