// Room device/cpu: what the CPU device says about itself.
#pragma once

#include "runtime/device/device.h"

namespace mneme::device::cpu {

/// Made once; starts no threads.
const Description& cpuDescription();
/// The same, as programs find it that were built for `arch`: for AMD's a block may be as deep as it
/// may be wide.
Description descriptionFor(std::string_view arch);

} // namespace mneme::device::cpu
