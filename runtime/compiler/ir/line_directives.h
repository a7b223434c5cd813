// Room compiler/ir: debug information of GPU code.
#pragma once

#include <llvm/IR/Module.h>

namespace mneme::ir {

/// Keeps source lines only, as the ahead-of-time compiler does for optimised GPU code, because
/// assemblers refuse optimised code with more. Returns whether there are any.
bool keepLineDirectives(llvm::Module& module);

} // namespace mneme::ir
