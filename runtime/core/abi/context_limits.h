// Room core/abi: limits of a GPU's context that a program may set, and kernels depend on.
#pragma once

#include <cstdint>

namespace mneme {

/// 0: as the device has it without being asked.
struct ContextLimits {
  uint64_t stackBytes = 0;  ///< of a thread; for kernels that call themselves
  uint64_t printBytes = 0;  ///< what kernels can print until they are waited for
  uint64_t heapBytes = 0;   ///< what kernels can allocate
  uint64_t ownLaunches = 0; ///< of a kernel that launches kernels: how many can wait
  bool operator==(const ContextLimits&) const = default;
};

} // namespace mneme
