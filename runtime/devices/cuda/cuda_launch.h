// Room devices/cuda: starts kernels and waits for their end.
#pragma once

#include "runtime/devices/cuda/cuda_context.h"
#include "runtime/devices/cuda/cuda_module.h"
#include "runtime/devices/device.h"

namespace mneme::device::cuda {

/// Checks whether the kernel can run in this shape, prepares the function for it and stores the
/// result in `module.accepted`. The context must be current.
/// \throws Error{InvalidArgument} with the exact numbers if it cannot
void prepareLaunch(Context& context, const Description& device, CudaModule& module,
                   const LaunchShape& shape);

/// Queues the kernel. The context must be current and prepareLaunch() must have succeeded.
/// \throws Error{InvalidArgument} if the driver refuses, Error{OutOfMemory}, and as check()
void startLaunch(Context& context, const CudaModule& module, const LaunchShape& shape,
                 void* const* args);

} // namespace mneme::device::cuda
