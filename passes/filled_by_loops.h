// Room passes: recognises arrays that loops fill completely before the first read.
#pragma once

#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace mneme::passes {

/// The prefix of the names of constants that stand for unknown content.
inline constexpr char kUnknownContent[] = "mneme.unset.";

/// Returns whether every byte of `variable` that is read was written after `first`, which copies
/// unknown content to the variable. The writes may come from a loop over consecutive elements that
/// either has as many iterations as the reading loop or fills the whole variable, and from writes
/// of single elements on every path to the read. Copies of other unknown content do not count as
/// writes. Iteration counts and offsets are compared with scalar evolution. Returns false if the
/// variable's address is used for anything but loads, stores, copies and fills.
bool isFilledBeforeRead(llvm::AllocaInst& variable, const llvm::MemIntrinsic& first,
                        llvm::DominatorTree& tree);

} // namespace mneme::passes
