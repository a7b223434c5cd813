// Room passes: finds code whose result depends on what memory happened to hold.
#pragma once

#include <llvm/IR/Function.h>

namespace mneme::passes {

/// Whether the function, as the front end wrote it, may read a local variable before all of it was
/// set: on some path, whether or not that can be taken. An array that is filled through a computed
/// index counts as never filled; what another function gets the address of, as set by it.
bool mayReadUnsetLocals(const llvm::Function& function);

} // namespace mneme::passes
