// Room devices/cuda: describes GPUs without starting them.
#pragma once

#include <string>

#include "runtime/devices/cuda/cuda_driver.h"
#include "runtime/devices/device.h"

namespace mneme::device::cuda {

/// \throws Error{BackendUnavailable} if there is no GPU with this number
CUdevice deviceAt(const Driver& driver, int ordinal);
std::string gpuName(const Driver& driver, CUdevice device);
/// "CUDA 13.0, driver 580.159.04"
std::string driverText(const Driver& driver);
/// \throws as check()
Description describeGpu(const Driver& driver, CUdevice device);

} // namespace mneme::device::cuda
