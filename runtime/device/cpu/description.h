// Room device/cpu: what the CPU device says about itself.
#pragma once

#include "runtime/device/device.h"

namespace mneme::device::cpu {

/// Made once; starts no threads.
const Description& cpuDescription();

} // namespace mneme::device::cpu
