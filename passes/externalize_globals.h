// Room passes: makes internal device variables findable by name.
#pragma once

#include <llvm/IR/Module.h>

namespace mneme::passes {

/// Gives every internal, mutable device variable external linkage and a name that is unique in the
/// program and valid in PTX (`<name>__mneme_<16 hex digits>`), so that a separately compiled kernel
/// can refer to it and tools can find it in the loaded module. Does the same for internal functions
/// that have a cell. Returns whether the module changed.
bool externalizeGlobals(llvm::Module& module);

} // namespace mneme::passes
