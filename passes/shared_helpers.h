// Room passes: finds functions of a unit that are called both inside and outside a kernel's
// closure.
#pragma once

#include <llvm/Support/JSON.h>

#include "passes/kernel_closure.h"

namespace mneme::passes {

/// Returns the closure's internal functions that functions of `original` outside the closure also
/// call; how the optimiser treats such a function depends on all its callers. Maps the name of each
/// to the indices of the arguments that are the same constant in all calls.
llvm::json::Object sharedHelpers(const Closure& closure, const llvm::Module& original);

} // namespace mneme::passes
