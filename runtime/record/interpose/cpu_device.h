// Room record: the CPU device, under whichever vendors' runtimes a process uses there.
#pragma once

#include "runtime/record/vendor.h"

namespace mneme::record {

/// Fills in what mneme's own runtimes in this process offer. False if there is none: the process
/// does not run on the CPU device.
bool describeCpuDevice(Vendor& vendor);

} // namespace mneme::record
