// Room compile: dynamic sizes of shared memory that turn out to be constant.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "runtime/compile/module/specialize.h"

namespace mneme::compile {

/// Local variables that need no memory, and what is constant because of them, have none behind
/// this.
void keepLocalsInRegisters(llvm::Function& function);

/// Gives calls of proteus::shared_array whose sizes are constant by now shared memory of just that
/// size; others keep the most that the source says.
void specializeSharedArrays(llvm::Module& module, TraceText trace);

} // namespace mneme::compile
