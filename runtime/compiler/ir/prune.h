// Room compiler/ir: removes what the kernel does not reach, and makes the rest internal where
// possible.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <string>

namespace mneme::ir {

/// Erases every function, variable and alias the kernel does not refer to, directly or through
/// others, with `llvm.used` lists, constructors and the annotations of other kernels.
void pruneTo(llvm::Module& module, llvm::Function& kernel);

/// Makes every shared-memory variable and other kernels internal. Device variables stay visible:
/// the host reads and writes them by name. Functions keep the linkage they had in the program,
/// because inlining and knowledge about calls depend on it, and therefore the rounding of results.
/// Functions in `ownFunctions` become external, as they were before they were extracted.
void internalizeExcept(llvm::Module& module, const llvm::Function& kernel,
                       llvm::ArrayRef<std::string> ownFunctions);

/// Erases functions that are no longer called, except the kernel. Call it after the pipeline, for
/// functions that internalizeExcept() kept.
void eraseUncalled(llvm::Module& module, const llvm::Function& kernel);

} // namespace mneme::ir
