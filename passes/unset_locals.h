// Room passes: finds code whose result depends on uninitialised memory.
#pragma once

#include <llvm/IR/Function.h>

namespace mneme::passes {

/// Returns whether the function, as the front end emitted it, has a path on which a local variable
/// is read before all of it is set, even if that path can never be taken. An array filled through a
/// computed index counts as never filled. A variable whose address is passed to another function
/// counts as set by that function.
bool mayReadUnsetLocals(const llvm::Function& function);

} // namespace mneme::passes
