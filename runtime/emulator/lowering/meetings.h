// Room emulator/lowering: the services at which threads wait for each other.
#pragma once

#include <cstddef>

#include "runtime/core/abi/cpu_image.h"

namespace mneme::compile::cpu {

/// The services at which the threads of a block wait, as offsets in the table of services.
inline constexpr size_t kBlockServices[] = {
    offsetof(mneme_cpu_services, barrier),
    offsetof(mneme_cpu_services, barrier_reduce),
};

/// The services at which the lanes of a warp wait.
inline constexpr size_t kWarpServices[] = {
    offsetof(mneme_cpu_services, warp_sync),   offsetof(mneme_cpu_services, shuffle),
    offsetof(mneme_cpu_services, vote),        offsetof(mneme_cpu_services, match_any),
    offsetof(mneme_cpu_services, match_all),   offsetof(mneme_cpu_services, warp_reduce),
    offsetof(mneme_cpu_services, active_mask), offsetof(mneme_cpu_services, wave),
};

} // namespace mneme::compile::cpu
