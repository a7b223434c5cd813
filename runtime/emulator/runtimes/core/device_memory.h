// Room emulator/runtimes: device memory for the runtime's own use.
#pragma once

#include <cstddef>

#include "runtime/emulator/runtimes/core/status.h"

namespace mneme::cpu_runtime {

/// Allocates memory the way the program would: from a recorder, if there is one, which then records
/// its content.
Status takeDeviceMemory(void** memory, size_t bytes);
void giveDeviceMemory(void* memory);

} // namespace mneme::cpu_runtime
