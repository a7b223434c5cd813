// Room emulator/lowering: replaces the bodies of library functions. Internal to this folder.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace mneme::compile::cpu {

/// Empties the function and returns the place where its new body goes.
llvm::ReturnInst* startBody(llvm::Function& function);
/// Ends the body begun at `placeholder`; `result` may be null or void for functions without one.
void finishBody(llvm::ReturnInst* placeholder, llvm::Value* result);
/// Removes all blocks but `kept`, the whole new body.
void dropOtherBlocks(llvm::Function& function, llvm::BasicBlock& kept);
llvm::SmallVector<llvm::Value*> argumentsOf(llvm::Function& function);
/// Returns the name without the number that linking adds to internal functions of the same name.
llvm::StringRef libraryName(const llvm::Function& function);

} // namespace mneme::compile::cpu
