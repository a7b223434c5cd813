// Room compile: dynamic sizes of shared memory that turn out to be constant.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "runtime/compile/module/specialize.h"

namespace mneme::compile {

/// Puts local variables into registers where they can be, and folds what is constant then.
void keepLocalsInRegisters(llvm::Function& function);

/// Gives calls of proteus::shared_array shared memory of just their size, where all calls of one
/// instance have the same constant size by now; others keep the most that the source says.
void specializeSharedArrays(llvm::Module& module, TraceText trace);

} // namespace mneme::compile
