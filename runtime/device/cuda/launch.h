// Room device/cuda: from a shape to a running kernel, and waiting for its end.
#pragma once

#include "runtime/device/cuda/context.h"
#include "runtime/device/cuda/cuda_module.h"
#include "runtime/device/device.h"

namespace mneme::device::cuda {

/// Sees whether the kernel can run in this shape and sets the function up for it; remembers the
/// answer in `module.accepted`. The context must be current.
/// \throws Error{InvalidArgument} with the exact numbers when it cannot
void prepareLaunch(Context& context, const Description& device, CudaModule& module,
                   const LaunchShape& shape);

/// Queues the kernel. The context must be current and the launch prepared.
/// \throws Error{InvalidArgument} when the driver refuses, Error{OutOfMemory}, and as check()
void startLaunch(Context& context, const CudaModule& module, const LaunchShape& shape,
                 void* const* args);

} // namespace mneme::device::cuda
