// Room passes: follows unknown content to the places that depend on it.
#pragma once

#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <optional>

namespace mneme::passes {

/// Returns whether a result of the function, or its control flow, may depend on the value of
/// `load`.
///
/// A value does not count as used if it is passed on under one condition and used only where that
/// condition is false. Examples: a variable that threads within bounds set before a barrier and
/// read after it, or that is read only if a flag marks it as valid. Conditions are compared with
/// LLVM's isImpliedCondition(), only along the path of the value.
bool isDependedOn(llvm::LoadInst& load, const llvm::DominatorTree& tree);

/// Returns the value that `condition` has whenever `block` is reached, if the conditions on the
/// path determine it.
std::optional<bool> valueIn(llvm::Value& condition, llvm::BasicBlock& block,
                            const llvm::DominatorTree& tree);

} // namespace mneme::passes
