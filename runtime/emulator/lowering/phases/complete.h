// Room emulator/lowering: what all lanes of a warp do together, as code of the kernel's image.
// Internal.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/IRBuilder.h>

#include "runtime/core/abi/cpu_image.h"

namespace mneme::compile::cpu {

/// Whether a whole warp that is at this place needs nobody to ask who may go on.
bool isCompleteWhenTogether(const mneme_cpu_meeting& meeting, unsigned warpSize);

/// Writes the results of such a meeting for a whole warp of 32 lanes, as the device would
/// (emulator/executor/warp.cpp). `field` gives where the lanes' elements of a mneme_cpu_lane_field
/// are; `hasFlag`: somebody asks whether a shuffle's source is in range. Code may end in another
/// block.
void emitCompletion(llvm::IRBuilder<>& b, const mneme_cpu_meeting& meeting, bool hasFlag,
                    llvm::function_ref<llvm::Value*(unsigned)> field);

} // namespace mneme::compile::cpu
