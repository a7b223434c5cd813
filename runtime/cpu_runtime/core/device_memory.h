// Room cpu_runtime: device memory for what the runtime itself keeps there.
#pragma once

#include <cstddef>

#include "runtime/cpu_runtime/core/status.h"

namespace mneme::cpu_runtime {

/// As the program would get it: from a recorder, if there is one, which then records what is in it.
Status takeDeviceMemory(void** memory, size_t bytes);
void giveDeviceMemory(void* memory);

} // namespace mneme::cpu_runtime
