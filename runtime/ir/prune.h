// Room ir: drops what the kernel does not reach and hides what only it may see.
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
/// since inlining and what is known of a call depend on it, and with them how results are rounded:
/// those named in `ownFunctions` become external, as they were before they were extracted.
void internalizeExcept(llvm::Module& module, const llvm::Function& kernel,
                       llvm::ArrayRef<std::string> ownFunctions);

/// Erases functions nobody calls any longer, but the kernel: behind the pipeline, what
/// internalizeExcept() kept.
void eraseUncalled(llvm::Module& module, const llvm::Function& kernel);

} // namespace mneme::ir
