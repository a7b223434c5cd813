// Room compiler: the IR that code objects can carry (core/abi/carried_ir.h).
#pragma once

#include <llvm/IR/Module.h>

namespace mneme::compile {

/// Puts the bitcode of `module` into the object that is generated from it, if the environment asks
/// for it.
void carryIrIfAsked(llvm::Module& module);

} // namespace mneme::compile
