// Room passes: where the life of a local variable begins, and what first happens to it there. Looks
// only, changes nothing.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>

namespace mneme::passes {

/// Behind which instructions nothing is in the variable: the marks of the front end where its life
/// begins, in each round of a loop again; without any, its place among the function's variables.
llvm::SmallVector<llvm::Instruction*, 2> beginningsOf(llvm::AllocaInst& variable);

/// Whether what first happens to the variable, on each path from each of its beginnings, sets all
/// of it, for all to see: by a store, or a copy of constant size. Whatever else is done with its
/// address counts as a read.
bool isSetFirst(llvm::AllocaInst& variable);

} // namespace mneme::passes
