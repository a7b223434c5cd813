// Room compiler/ir: which argument of a call operator is its closure.
#pragma once

#include <llvm/IR/Function.h>

namespace mneme::ir {

/// Returns the call operator's argument that is the closure's address; null if there is none.
llvm::Argument* closureArgument(llvm::Function& callOperator);

} // namespace mneme::ir
