// Room passes: follows content that nobody knows to where something depends on it.
#pragma once

#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include <optional>

namespace mneme::passes {

/// Whether anything the function leaves, or which way it takes, may depend on the value of `load`.
///
/// A value that is passed on under a condition and used where the condition does not hold is not
/// used: what is set for threads within bounds, and read within bounds behind a barrier, or only if
/// a flag says that it is there. Conditions are compared as LLVM compares them
/// (isImpliedCondition), along the way of the value alone.
bool isDependedOn(llvm::LoadInst& load, const llvm::DominatorTree& tree);

/// What `condition` is wherever `block` is reached, if the conditions on the way there tell.
std::optional<bool> valueIn(llvm::Value& condition, llvm::BasicBlock& block,
                            const llvm::DominatorTree& tree);

} // namespace mneme::passes
