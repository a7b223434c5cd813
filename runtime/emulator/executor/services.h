// Room emulator/executor: the service table handed to every image. Internal.
#pragma once

#include "runtime/core/abi/cpu_image.h"

namespace mneme::device::cpu {

const mneme_cpu_services& serviceTable() noexcept;

} // namespace mneme::device::cpu
