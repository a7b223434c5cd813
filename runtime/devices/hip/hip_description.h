// Room devices/hip: describes GPUs without using them.
#pragma once

#include <string>

#include "runtime/devices/device.h"
#include "runtime/devices/hip/hip_driver.h"

namespace mneme::device::hip {

/// \throws Error{BackendUnavailable} if there is no GPU with this number
int deviceAt(const Driver& driver, int ordinal);
std::string gpuName(const Driver& driver, int device);
/// "gfx90a:sramecc+:xnack-"
std::string targetOf(const Driver& driver, int device);
/// "HIP 6.2.41134, amdgpu 6.8.5"
std::string driverText(const Driver& driver);
/// Returns the size of the largest cache of a GPU of this target. HIP only reports the L2 cache of
/// one die and not the Infinity Cache behind it.
uint64_t cacheBytes(const std::string& target, uint64_t l2Bytes);
/// \throws as Driver::raise()
Description describeGpu(const Driver& driver, int device);

} // namespace mneme::device::hip
