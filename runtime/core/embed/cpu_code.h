// Room core/embed: reads the kernel in an image for the CPU device (core/abi/cpu_image.h) without
// loading it.
#pragma once

#include <optional>

#include "runtime/core/embed/byte_view.h"
#include "runtime/core/embed/device_code.h"

namespace mneme::embed {

/// Whether this is such an image.
bool isCpuImage(Bytes image);

/// Returns its one kernel, and its variables; nothing for other files. \throws
/// Error{ArtifactCorrupt} for damaged ones
std::optional<DeviceCode> readCpuImage(Bytes image);

} // namespace mneme::embed
