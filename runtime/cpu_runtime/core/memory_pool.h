// Room cpu_runtime: memory pools. A pool is a name for allocations with attributes to
// remember; the heap serves all of them.
#pragma once

#include <atomic>
#include <cstdint>

namespace mneme::cpu_runtime {

class MemoryPool {
public:
  /// The pool gpuMallocAsync takes from (the default pool unless the application set another).
  static void* current();
  static bool isValid(void* handle);

  std::atomic<uint64_t> releaseThresholdBytes{0};
  std::atomic<int> reuse[3] = {1, 1, 1}; ///< event dependencies, opportunistic, internal
};

} // namespace mneme::cpu_runtime
