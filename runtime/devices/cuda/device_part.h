// Room devices/cuda: a green context, in which kernels have a part of a GPU's multiprocessors. It
// shares the memory and the modules of the primary context.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/devices/cuda/cuda_driver.h"

namespace mneme::device::cuda {

/// Owned by the receiver.
struct DevicePart {
  CUgreenCtx context = nullptr;
  CUstream stream = nullptr; ///< what is given to it runs in the part
  uint32_t multiprocessors = 0;
};

/// Makes a part with so many multiprocessors, or else with the nearest number that is larger and
/// that the GPU can part. Returns nothing if that is all of them, or if the driver makes no parts.
/// The primary context must be current.
std::optional<DevicePart> makePart(const Driver& driver, CUdevice device, uint32_t multiprocessors);

/// Nothing may run in the part.
void destroyPart(const Driver& driver, const DevicePart& part) noexcept;

} // namespace mneme::device::cuda
