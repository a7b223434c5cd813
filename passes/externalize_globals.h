// Room passes: makes internal device variables findable by name.
#pragma once

#include <llvm/IR/Module.h>

namespace mneme::passes {

/// Gives every internal, mutable device variable external linkage and a name that is unique in the
/// program and valid in PTX (`<name>__mneme_<16 hex digits>`), so that a kernel compiled on its own
/// can refer to it and tools can find it in the loaded module; the same to internal functions that
/// have a cell. Returns whether anything changed.
bool externalizeGlobals(llvm::Module& module);

} // namespace mneme::passes
