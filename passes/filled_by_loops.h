// Room passes: arrays that loops fill before anything of them is read.
#pragma once

#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace mneme::passes {

/// What names of constants begin with whose content nobody knows.
inline constexpr char kUnknownContent[] = "mneme.unset.";

/// Whether every byte of `variable` that is read was written between `first`, which copies unknown
/// content there, and the read: by a loop over neighbouring elements that has as many
/// rounds as the reading one, or that fills all of it, and by writes of single places on every way
/// to the read. Other unknown content is nothing. Numbers of rounds and places are compared as
/// scalar evolution has them. Anything that is done with the variable's address but loads, stores,
/// copies and fills: false.
bool isFilledBeforeRead(llvm::AllocaInst& variable, const llvm::MemIntrinsic& first,
                        llvm::DominatorTree& tree);

} // namespace mneme::passes
