// Room compile: drops what the kernel does not reach and hides what only it may see.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace mneme::compile {

/// Erases every function, variable and alias the kernel does not refer to, directly or through
/// others, with `llvm.used` lists, constructors and the annotations of other kernels.
void pruneTo(llvm::Module& module, llvm::Function& kernel);

/// Makes every defined function but the kernel internal, and every shared-memory variable. Other
/// device variables stay visible: the host reads and writes them by name.
void internalizeExcept(llvm::Module& module, const llvm::Function& kernel);

} // namespace mneme::compile
