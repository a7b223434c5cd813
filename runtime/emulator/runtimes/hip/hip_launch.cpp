// Launches, kernel attributes, occupancy and events of the HIP API where they differ from the
// shared ones.
#include <algorithm>

#include "runtime/emulator/runtimes/core/event.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/host_device.h"
#include "runtime/emulator/runtimes/core/launch.h"
#include "runtime/emulator/runtimes/core/own_calls.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

constexpr unsigned kEventFlags = 7; // blocking, no timing, interprocess; the others are hints

/// hipFuncAttributes: FuncAttributes in alphabetical order.
struct HipFuncAttributes {
  int binaryVersion;
  int cacheModeCA;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxDynamicSharedSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int preferredShmemCarveout;
  int ptxVersion;
  size_t sharedSizeBytes;
};

Status recordIfAny(void* event, void* stream) {
  return event ? gpuEventRecord(event, stream) : Status::Success;
}

Status largestBlock(int* blocks, int* threads, const void* function, size_t sharedBytes,
                    int limit) {
  if (!blocks || !threads || limit < 0)
    return remember(Status::InvalidValue);
  FuncAttributes attributes{};
  Status status = gpuFuncGetAttributes(&attributes, function);
  if (status != Status::Success)
    return status;
  const int most =
      limit ? std::min(limit, attributes.maxThreadsPerBlock) : attributes.maxThreadsPerBlock;
  *threads = most > vendor.warpSize ? most / vendor.warpSize * vendor.warpSize : most;
  int resident = 0;
  status = gpuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, *threads, sharedBytes);
  *blocks = resident * multiprocessorCount();
  return status;
}

} // namespace

/// For what passes for AMD's runtime, whose profiler is another library.
MNEME_RUNTIME_API void mneme_hiprt_watch_launches(LaunchWatcher watcher) { watchLaunches(watcher); }

/// The shared memory is counted in 32 bits; the upper half of the register is not the caller's.
MNEME_RUNTIME_API Status hipLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block,
                                                    void** args, unsigned sharedBytes,
                                                    void* stream) {
  return gpuLaunchCooperativeKernel(function, grid, block, args, sharedBytes, stream);
}

MNEME_RUNTIME_API Status hipExtLaunchMultiKernelMultiDevice(const DeviceLaunch* launches, int count,
                                                            unsigned flags) {
  return startOnDevices(launches, static_cast<unsigned>(count), flags, false);
}

MNEME_RUNTIME_API Status hipModuleLaunchCooperativeKernelMultiDevice(
    const DriverDeviceLaunch* launches, unsigned count, unsigned flags) {
  const DeviceLaunch first = launches && count > 0 ? launches->asRuntimes() : DeviceLaunch{};
  return startOnDevices(launches ? &first : nullptr, count, flags, true);
}

MNEME_RUNTIME_API Status hipExtLaunchKernel(const void* function, Dim3 grid, Dim3 block,
                                            void** args, size_t sharedBytes, void* stream,
                                            void* startEvent, void* stopEvent, int) {
  if ((startEvent && !isEvent(startEvent)) || (stopEvent && !isEvent(stopEvent)))
    return remember(Status::InvalidResourceHandle);
  Status status = recordIfAny(startEvent, stream);
  if (status == Status::Success)
    status = gpuLaunchKernel(function, grid, block, args, sharedBytes, stream);
  return status == Status::Success ? recordIfAny(stopEvent, stream) : status;
}

MNEME_RUNTIME_API Status hipFuncGetAttributes(HipFuncAttributes* attributes, const void* function) {
  if (!attributes)
    return remember(Status::InvalidValue);
  FuncAttributes found{};
  const Status status = gpuFuncGetAttributes(&found, function);
  if (status == Status::Success)
    *attributes = {found.binaryVersion,
                   found.cacheModeCA,
                   found.constSizeBytes,
                   found.localSizeBytes,
                   found.maxDynamicSharedSizeBytes,
                   found.maxThreadsPerBlock,
                   found.numRegs,
                   found.preferredShmemCarveout,
                   found.ptxVersion,
                   found.sharedSizeBytes};
  return status;
}

/// hipFunction_attribute, numbered from 0.
MNEME_RUNTIME_API Status hipFuncGetAttribute(int* value, int attribute, const void* function) {
  FuncAttributes found{};
  const Status status = gpuFuncGetAttributes(&found, function);
  if (status != Status::Success)
    return status;
  const int values[] = {found.maxThreadsPerBlock,
                        static_cast<int>(found.sharedSizeBytes),
                        static_cast<int>(found.constSizeBytes),
                        static_cast<int>(found.localSizeBytes),
                        found.numRegs,
                        found.ptxVersion,
                        found.binaryVersion,
                        found.cacheModeCA,
                        found.maxDynamicSharedSizeBytes,
                        found.preferredShmemCarveout};
  if (!value || attribute < 0 || attribute >= static_cast<int>(std::size(values)))
    return remember(Status::InvalidValue);
  *value = values[attribute];
  return Status::Success;
}

MNEME_RUNTIME_API Status hipOccupancyMaxPotentialBlockSize(int* blocks, int* threads,
                                                           const void* function, size_t sharedBytes,
                                                           int limit) {
  return largestBlock(blocks, threads, function, sharedBytes, limit);
}

MNEME_RUNTIME_API Status hipEventCreateWithFlags(void** event, unsigned flags) {
  return gpuEventCreateWithFlags(event, flags & kEventFlags);
}
