// Room passes: functions of a unit that other code than a kernel's closure calls too.
#pragma once

#include <llvm/Support/JSON.h>

#include "passes/kernel_closure.h"

namespace mneme::passes {

/// Internal functions of the closure that functions of `original` outside it call as well: what the
/// optimiser does with one depends on all its callers. Maps the name of each to the numbers of its
/// arguments that are the same constant in all calls.
llvm::json::Object sharedHelpers(const Closure& closure, const llvm::Module& original);

} // namespace mneme::passes
