// Room compiler: sizes of shared memory that become constant by specialisation.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "runtime/compiler/module/specialize.h"

namespace mneme::compile {

/// Moves local variables into registers where possible, and folds resulting constants.
void keepLocalsInRegisters(llvm::Function& function);

/// Gives calls of proteus::shared_array shared memory of exactly their size, if all calls of one
/// instance now have the same constant size; others keep the maximum in the source.
void specializeSharedArrays(llvm::Module& module, TraceText trace);

} // namespace mneme::compile
