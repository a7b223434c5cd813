// Room emulator/executor: the description of the CPU device.
#pragma once

#include "runtime/devices/device.h"

namespace mneme::device::cpu {

/// Made once; starts no threads.
const Description& cpuDescription();
/// The description for programs that were built for `arch`: for AMD's architectures a block may be
/// as deep as wide.
Description descriptionFor(std::string_view arch);

} // namespace mneme::device::cpu
