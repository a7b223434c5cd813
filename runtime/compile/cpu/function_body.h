// Room compile/cpu: giving library functions other bodies. Internal to this folder.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace mneme::compile::cpu {

/// Empties the function and returns the place where its new body goes.
llvm::ReturnInst* startBody(llvm::Function& function);
/// Ends the body begun at `placeholder`; `result` may be null or void for functions without one.
void finishBody(llvm::ReturnInst* placeholder, llvm::Value* result);
/// Leaves nothing of the function but `kept`, its whole new body.
void dropOtherBlocks(llvm::Function& function, llvm::BasicBlock& kept);
llvm::SmallVector<llvm::Value*> argumentsOf(llvm::Function& function);
/// The name without the number linking gives internal functions of the same name.
llvm::StringRef libraryName(const llvm::Function& function);

} // namespace mneme::compile::cpu
