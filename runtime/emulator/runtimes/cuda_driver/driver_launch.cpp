// Launches and occupancy in the CUDA driver API.
#include <algorithm>

#include "runtime/core/abi/cpu_driver_services.h"
#include "runtime/devices/cuda/application.h"
#include "runtime/emulator/runtimes/core/exported.h"
#include "runtime/emulator/runtimes/core/types.h"
#include "runtime/emulator/runtimes/cuda_driver/forward.h"

using namespace mneme::cpu_runtime::cuda_driver;
using mneme::cpu_runtime::Dim3;

namespace {

constexpr int kWarpSize = 32;

/// What the runtime calls a launch, which has the driver's numbers.
RuntimeLaunchConfig runtimeConfig(const CUlaunchConfig& config) {
  return {{config.gridDimX, config.gridDimY, config.gridDimZ},
          {config.blockDimX, config.blockDimY, config.blockDimZ},
          config.sharedMemBytes,
          config.hStream,
          config.attrs,
          config.numAttrs};
}

/// Calls `launch` with the arguments, which lie behind `args` or packed behind `extra`.
template <typename Launch>
int withArguments(const void* function, void** args, void** extra, const Launch& launch) {
  if (args || !extra)
    return launch(args);
  const auto use = [](void* user, void** unpacked) {
    return (*static_cast<const Launch*>(user))(unpacked);
  };
  return driverStatus(
      mneme_cudart_unpack_arguments(function, extra, use, const_cast<Launch*>(&launch)));
}

/// The largest block, of whole warps, that fills most of a multiprocessor.
int bestBlock(int& minGrid, int& bestThreads, const void* function, size_t (*sharedOf)(int),
              size_t sharedBytes, int limit) {
  int most = 0, multiprocessors = 0;
  int status = forward<"cudaDeviceGetAttribute">(&multiprocessors, 16, 0);
  mneme::cpu_runtime::FuncAttributes attributes{};
  if (status == CUDA_SUCCESS)
    status = forward<"cudaFuncGetAttributes">(&attributes, function);
  if (status != CUDA_SUCCESS)
    return status;
  const int largest =
      limit > 0 ? std::min(limit, attributes.maxThreadsPerBlock) : attributes.maxThreadsPerBlock;
  const int rounded = (largest + kWarpSize - 1) / kWarpSize * kWarpSize;
  for (int upTo = rounded; upTo > 0; upTo -= kWarpSize) {
    const int threads = std::min(upTo, largest);
    int blocks = 0;
    status = forward<"cudaOccupancyMaxActiveBlocksPerMultiprocessor">(
        &blocks, function, threads, sharedOf ? sharedOf(threads) : sharedBytes);
    if (status != CUDA_SUCCESS)
      return status;
    if (blocks * threads > most) {
      most = blocks * threads;
      bestThreads = threads;
      minGrid = blocks * multiprocessors;
    }
  }
  return CUDA_SUCCESS;
}

} // namespace

MNEME_RUNTIME_API int cuLaunchKernel(const void* function, unsigned gridX, unsigned gridY,
                                     unsigned gridZ, unsigned blockX, unsigned blockY,
                                     unsigned blockZ, unsigned sharedBytes, void* stream,
                                     void** args, void** extra) {
  return withArguments(function, args, extra, [&](void** pointers) {
    return forward<"cudaLaunchKernel">(function, Dim3{gridX, gridY, gridZ},
                                       Dim3{blockX, blockY, blockZ}, pointers,
                                       static_cast<size_t>(sharedBytes), stream);
  });
}

MNEME_RUNTIME_API int cuLaunchCooperativeKernel(const void* function, unsigned gridX,
                                                unsigned gridY, unsigned gridZ, unsigned blockX,
                                                unsigned blockY, unsigned blockZ,
                                                unsigned sharedBytes, void* stream, void** args) {
  return forward<"cudaLaunchCooperativeKernel">(function, Dim3{gridX, gridY, gridZ},
                                                Dim3{blockX, blockY, blockZ}, args,
                                                static_cast<size_t>(sharedBytes), stream);
}

MNEME_RUNTIME_API int
cuLaunchCooperativeKernelMultiDevice(const mneme::cpu_runtime::DriverDeviceLaunch* launches,
                                     unsigned count, unsigned flags) {
  using mneme::cpu_runtime::DeviceLaunch;
  const DeviceLaunch first = launches && count > 0 ? launches->asRuntimes() : DeviceLaunch{};
  return forward<"cudaLaunchCooperativeKernelMultiDevice">(launches ? &first : nullptr, count,
                                                           flags);
}

MNEME_RUNTIME_API int cuLaunchKernelEx(const CUlaunchConfig* config, const void* function,
                                       void** args, void** extra) {
  if (!config)
    return CUDA_ERROR_INVALID_VALUE;
  const RuntimeLaunchConfig wanted = runtimeConfig(*config);
  return withArguments(function, args, extra, [&](void** pointers) {
    return forward<"cudaLaunchKernelExC">(&wanted, function, pointers);
  });
}

MNEME_RUNTIME_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                  int threads, size_t sharedBytes) {
  return forward<"cudaOccupancyMaxActiveBlocksPerMultiprocessor">(blocks, function, threads,
                                                                  sharedBytes);
}

MNEME_RUNTIME_API int
cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                     size_t sharedBytes, unsigned flags) {
  return forward<"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags">(
      blocks, function, threads, sharedBytes, flags);
}

MNEME_RUNTIME_API int cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGrid, int* threads,
                                                                const void* function,
                                                                size_t (*sharedOf)(int),
                                                                size_t sharedBytes, int limit,
                                                                unsigned) {
  return minGrid && threads ? bestBlock(*minGrid, *threads, function, sharedOf, sharedBytes, limit)
                            : CUDA_ERROR_INVALID_VALUE;
}

MNEME_RUNTIME_API int cuOccupancyMaxPotentialBlockSize(int* minGrid, int* threads,
                                                       const void* function,
                                                       size_t (*sharedOf)(int), size_t sharedBytes,
                                                       int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(minGrid, threads, function, sharedOf,
                                                   sharedBytes, limit, 0);
}

MNEME_RUNTIME_API int cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                              int blocks, int threads) {
  return forward<"cudaOccupancyAvailableDynamicSMemPerBlock">(bytes, function, blocks, threads);
}
