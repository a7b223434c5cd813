// Room passes: finds where the lifetime of a local variable begins and what first happens to it
// there. Changes nothing.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>

namespace mneme::passes {

/// Returns the instructions after which the variable is uninitialised: the front end's lifetime
/// markers, which also apply to each iteration of a loop, or the variable's alloca if there are
/// none.
llvm::SmallVector<llvm::Instruction*, 2> beginningsOf(llvm::AllocaInst& variable);

/// Returns whether, on each path from each beginning of its lifetime, the first access visibly sets
/// the whole variable: a store or a copy of constant size. Any other use of its address counts as a
/// read.
bool isSetFirst(llvm::AllocaInst& variable);

} // namespace mneme::passes
