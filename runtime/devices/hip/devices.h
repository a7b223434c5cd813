// Room devices/hip: the AMD GPUs of this machine, for the registry.
#pragma once

#include <memory>
#include <vector>

#include "runtime/devices/device.h"

namespace mneme::device::hip {

/// Returns one entry per GPU that this process can see, or one named "hip" with the reason why
/// there is none. Starts HIP, but no GPU.
std::vector<DeviceStatus> listGpus();
/// Returns the number of GPUs that this process can use.
int gpuCount() noexcept;
/// Starts HIP, but no GPU. \throws Error{BackendUnavailable}
Description describeGpu(int ordinal);
/// \throws Error{BackendUnavailable}
std::unique_ptr<Device> openGpu(int ordinal);

} // namespace mneme::device::hip
