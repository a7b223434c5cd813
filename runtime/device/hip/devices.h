// Room device/hip: the AMD GPUs of this machine, for the registry.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/device.h"

namespace mneme::device::hip {

/// One entry per GPU this process sees, or one named "hip" that says why there is none. Starts HIP,
/// but no GPU.
std::vector<DeviceStatus> listGpus();
/// How many GPUs this process can use.
int gpuCount() noexcept;
/// Starts HIP, but no GPU. \throws Error{BackendUnavailable}
Description describeGpu(int ordinal);
/// \throws Error{BackendUnavailable}
std::unique_ptr<Device> openGpu(int ordinal);

} // namespace mneme::device::hip
