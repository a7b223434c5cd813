// Room devices/cuda: CUPTI's record of a kernel (CUPTI's documentation, CUpti_ActivityKernel9).
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme::device::cuda {

constexpr int kindKernel = 3;
constexpr int kindConcurrentKernel = 10;
constexpr uint32_t flushForced = 1;

/// The common beginning of the kernel records of every CUPTI since 9.0.
struct KernelRecord {
  int32_t kind;
  uint8_t cacheConfig;
  uint8_t sharedMemoryConfig;
  uint16_t registersPerThread;
  int32_t partitionedCacheRequested;
  int32_t partitionedCacheExecuted;
  uint64_t start;
  uint64_t end;
  uint64_t completed;
  uint32_t deviceId;
  uint32_t contextId;
  uint32_t streamId;
  int32_t grid[3];
  int32_t block[3];
  int32_t staticSharedMemory;
  int32_t dynamicSharedMemory;
  uint32_t localMemoryPerThread;
  uint32_t localMemoryTotal;
  uint32_t correlationId;
  int64_t gridId;
  const char* name; ///< mangled; owned by CUPTI, valid while the record is read
};
static_assert(offsetof(KernelRecord, start) == 16);
static_assert(offsetof(KernelRecord, deviceId) == 40);
static_assert(offsetof(KernelRecord, grid) == 52);
static_assert(offsetof(KernelRecord, correlationId) == 92);
static_assert(offsetof(KernelRecord, name) == 104);

} // namespace mneme::device::cuda
