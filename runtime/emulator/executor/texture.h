// Room emulator/executor: textures and surfaces.
#pragma once

#include <cstdint>

#include "runtime/core/abi/cpu_texture.h"

namespace mneme::device::cpu {

/// One read or write, as mneme_cpu_services::texture has it. False where a surface is left that
/// must not be. Reads `texture` and what it describes, which the caller has to be ready for not to
/// be there.
bool accessTexture(const mneme_cpu_texture& texture, uint32_t operation,
                   const uint32_t* coordinates, uint32_t* values, uint32_t bytes) noexcept;

} // namespace mneme::device::cpu
