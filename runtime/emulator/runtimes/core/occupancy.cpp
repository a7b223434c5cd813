// Occupancy queries: the vendor's arithmetic, without the limit of registers.
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/host_device.h"
#include "runtime/emulator/runtimes/core/launch.h"
#include "runtime/emulator/runtimes/core/vendor.h"

using namespace mneme::cpu_runtime;

namespace {

Status maxActiveBlocks(int* blocks, const void* function, int threads, size_t sharedBytes) {
  const auto kernel = findKernel(function);
  if (!kernel)
    return Status::InvalidDeviceFunction;
  if (const Status status = describe(*kernel); status != Status::Success)
    return status;
  if (!blocks || threads <= 0)
    return Status::InvalidValue;
  *blocks = residentBlocks(*kernel, threads, sharedBytes);
  return Status::Success;
}

} // namespace

MNEME_RUNTIME_API Status gpuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                      const void* function,
                                                                      int threads,
                                                                      size_t sharedBytes) {
  return api([&] { return maxActiveBlocks(blocks, function, threads, sharedBytes); });
}

MNEME_RUNTIME_API Status gpuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t sharedBytes, unsigned flags) {
  return api([&] {
    if (flags > 1)
      return Status::InvalidValue;
    return maxActiveBlocks(blocks, function, threads, sharedBytes);
  });
}

MNEME_RUNTIME_API Status gpuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes,
                                                                  const void* function, int blocks,
                                                                  int threads) {
  return api([&] {
    const auto kernel = findKernel(function);
    if (!kernel)
      return Status::InvalidDeviceFunction;
    if (const Status status = describe(*kernel); status != Status::Success)
      return status;
    if (!bytes || blocks <= 0 || threads <= 0)
      return Status::InvalidValue;
    const size_t share = vendor.sharedPerMultiprocessor / static_cast<size_t>(blocks);
    const size_t fixed = kernel->blob->sharedBytes + vendor.reservedSharedPerBlock;
    const size_t most = vendor.sharedPerBlockOptin - kernel->blob->sharedBytes;
    *bytes = share > fixed ? std::min(share - fixed, most) : 0;
    return Status::Success;
  });
}

MNEME_RUNTIME_API Status gpuOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                             const LaunchConfig*) {
  return api([&] {
    if (!blocks)
      return Status::InvalidValue;
    *blocks = 1;
    return findKernel(function) ? Status::Success : Status::InvalidDeviceFunction;
  });
}

MNEME_RUNTIME_API Status gpuOccupancyMaxActiveClusters(int* clusters, const void* function,
                                                       const LaunchConfig* config) {
  return api([&] {
    if (!clusters || !config)
      return Status::InvalidValue;
    const Dim3& block = config->blockDim;
    int blocks = 0;
    const Status status = maxActiveBlocks(
        &blocks, function, static_cast<int>(block.x * block.y * block.z), config->dynamicSmemBytes);
    *clusters = blocks * multiprocessorCount();
    return status;
  });
}
