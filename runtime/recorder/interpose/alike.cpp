#include "runtime/recorder/interpose/alike.h"

#include "runtime/core/loaded/runtime_in_sight.h"
#include "runtime/recorder/inside_call.h"

namespace mneme::record {

using artifact::RegionKind;

namespace {

constexpr size_t kPitchBytes = 512; // what NVIDIA devices round rows to; AMD's take less
constexpr unsigned kAttachGlobal = 1, kAttachHost = 2;

} // namespace

int servePitched(void** pointer, size_t* pitch, Extent extent, const Next& next) {
  size_t rowBytes = 0, bytes = 0;
  if (!pitch ||
      !pitchedSize(extent.width, extent.height, extent.depth, kPitchBytes, rowBytes, bytes))
    return next();
  const int status = serve(pointer, bytes, RegionKind::Allocation, next);
  if (status == 0 && isServed(*pointer))
    *pitch = rowBytes;
  return status;
}

int servePitched(PitchedPtr* pitched, Extent extent, const Next& next) {
  if (!pitched)
    return next();
  size_t rowBytes = 0;
  const int status = servePitched(&pitched->ptr, &rowBytes, extent, next);
  if (rowBytes != 0)
    *pitched = {pitched->ptr, rowBytes, extent.width, extent.height};
  return status;
}

int serveManaged(void** pointer, size_t bytes, unsigned flags, const Next& next) {
  if (flags != kAttachGlobal && flags != kAttachHost)
    return next();
  return serve(pointer, bytes, RegionKind::Managed, next);
}

void* poolOfCurrentDevice(int (*poolOfDevice)(void** pool, int device)) noexcept {
  void* pool = nullptr;
  return poolOfDevice && poolOfDevice(&pool, findBackend().currentDevice()) == 0 ? pool : nullptr;
}

int launchDriver(const DriverLaunch& config, void* stream, const void* function, void** args,
                 void** extra, const Next& next) {
  return launchLoaded({.function = function,
                       .grid = config.grid,
                       .block = config.block,
                       .sharedBytes = config.sharedBytes,
                       .stream = stream,
                       .args = args,
                       .extra = extra,
                       .config = &config},
                      next);
}

int watchKernel(const LoadedLaunch& launch, const Next& next) {
  if (!isInsideCall() && mneme_rt_find_kernel(launch.function, nullptr, nullptr))
    return launchLoaded(launch, next);
  return loaded::isRuntimeInSight() ? next() : watchUnreadable(kNotBuilt, launch.function, next);
}

int watchKernel(const RuntimeLaunch* config, void* stream, const void* kernel, void** args,
                const Next& next) {
  if (!config)
    return next();
  return watchKernel({.function = kernel,
                      .grid = config->grid,
                      .block = config->block,
                      .sharedBytes = config->sharedBytes,
                      .stream = stream,
                      .args = args,
                      .config = config},
                     next);
}

} // namespace mneme::record
