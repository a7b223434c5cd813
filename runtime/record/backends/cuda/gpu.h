// Room record: CUDA on a real GPU, past the runtime: the driver in the application's own contexts.
// No symbol of the application is taken over here.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/device/cuda/application.h"
#include "runtime/record/device_access.h"
#include "runtime/record/memory_backend.h"

namespace mneme::record::gpu {

/// One GPU as the application uses it: its primary context, which the runtime owns. Valid until the
/// device is reset.
struct Side {
  const device::cuda::Driver* driver = nullptr;
  device::cuda::CUcontext context = nullptr;
  device::cuda::CUdevice device = 0;
};

/// The GPU of the calling thread. Driver null when there is none, or when the thread works in
/// another context than the primary one.
Side currentSide() noexcept;

/// Memory at chosen addresses by the driver's virtual memory functions; null where it has none.
std::unique_ptr<MemoryBackend> makeMemory(const Side& side);

/// Copies and hashes on the GPU. `streamOf` gives the stream of a launch.
std::unique_ptr<DeviceAccess> makeAccess(const Side& side,
                                         void* (*streamOf)(const mneme_launch& launch));

} // namespace mneme::record::gpu
