// Room compiler/ir: the calls of a closure in a kernel, such that each closure's content can be
// traced to the kernel's arguments.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>

namespace mneme::ir {

struct ByteRange {
  uint64_t offset;
  uint64_t sizeBytes;
};

/// Returns whether a function calls another, directly or through others.
bool reaches(const llvm::Function& from, const llvm::Function& to);

/// Inlines into the kernel what stands between it and the operator, and what hides where these
/// `fields` of its closures come from; puts local variables into registers. The operator itself
/// stays.
void exposeClosureCalls(llvm::Function& kernel, llvm::Function& callOperator,
                        llvm::ArrayRef<ByteRange> fields, llvm::TargetMachine& machine);

/// The kernel's own calls of the operator, in its order.
llvm::SmallVector<llvm::CallBase*> callsIn(llvm::Function& kernel, llvm::Function& callOperator);

} // namespace mneme::ir
