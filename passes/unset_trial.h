// Room passes: finds by trial which local variables are read before they are set.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/BitVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace mneme::passes {

/// Returns a bit for each of `variables`, all of one device module: whether it may be read before
/// it is set.
///
/// In a copy of the module each variable starts with unknown content. The copy is then optimised
/// like any program, with inlining and loop unrolling. If the content is still used afterwards, the
/// optimiser could not prove that nothing depends on it, and the variable's bit is set. If the
/// content is gone, every use of the variable comes after it is set, or its value has no effect. So
/// impossible paths, fields that a called function sets and arrays that a loop fills are handled
/// correctly as far as the optimiser can analyse them. What it cannot analyse, such as a function
/// of another unit or an array filled through an unknown index, counts as a read. Padding in
/// structures never counts.
///
/// A use whose result does not depend on the value (x - x) does not count. The module is not
/// changed and nothing is printed. If the optimiser crashes, all bits are set.
llvm::BitVector readUnset(llvm::Module& module, llvm::ArrayRef<llvm::AllocaInst*> variables);

} // namespace mneme::passes
