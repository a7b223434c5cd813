// Room passes: finds out by trial which local variables are read before they are set.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/BitVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace mneme::passes {

/// Which of `variables`, of one device module, may be read before they are set: a bit for each.
///
/// In a copy of the module each variable begins its life with content that nobody knows. Then the
/// copy is optimised as any program is, functions inlined and loops unrolled. Where that content is
/// still used afterwards, the optimiser could not prove that nothing depends on it, and the
/// variable counts; where it is gone, every use of the variable comes behind what sets it, or its
/// value has no effect. So paths that cannot be taken, fields that a called function sets, and
/// arrays that a loop fills count for what they are, as far as the optimiser sees through them.
/// What it does not see through, such as a function of another unit or an array filled through an
/// index it does not know, counts as a read. Bytes between the members of a structure never count.
///
/// A use that gives the same whatever the value is (x - x) is none. The module stays as it is, and
/// nothing is printed; if the optimiser crashes, all variables count.
llvm::BitVector readUnset(llvm::Module& module, llvm::ArrayRef<llvm::AllocaInst*> variables);

} // namespace mneme::passes
