// Room compiler/ir: the convention of passes and compilation for addresses of functions. Header
// only, because the passes link nothing of compile.
//
// The address of a device function is valid only in the loaded module that it belongs to: a kernel
// that is compiled alone has its own copies of functions elsewhere. Memory of the program contains
// addresses of the program's module. So the passes give every function whose address is taken a
// cell: a constant device variable that contains the address, which is found, recorded and placed
// like any device variable. Code that is compiled later reads a function's address in the program
// from its cell, and compares pointers that it calls with the cells.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <string>

namespace mneme::ir {

/// Prefix of the names of cells; the function's name follows.
inline constexpr char kFunctionCellPrefix[] = "__mneme_function_";

inline bool isFunctionCell(const llvm::GlobalVariable& variable) {
  return variable.getName().starts_with(kFunctionCellPrefix);
}

/// Returns the function of a cell; null if another unit defines the cell.
inline llvm::Function* functionOf(llvm::GlobalVariable& cell) {
  if (!isFunctionCell(cell) || !cell.hasInitializer())
    return nullptr;
  return llvm::dyn_cast<llvm::Function>(cell.getInitializer()->stripPointerCasts());
}

/// Whether it is a call through a pointer.
inline bool callsPointer(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call && !call->isInlineAsm() &&
         !llvm::isa<llvm::Function, llvm::GlobalAlias>(
             call->getCalledOperand()->stripPointerCasts());
}

/// Visits instructions and variables that use `function` other than by calling it.
template <typename Visit> void visitAddressUsers(llvm::Function& function, Visit visit) {
  llvm::SmallVector<llvm::Use*> pending;
  llvm::SmallPtrSet<llvm::Constant*, 8> seen;
  for (llvm::Use& use : function.uses())
    pending.push_back(&use);
  while (!pending.empty()) {
    llvm::Use& use = *pending.pop_back_val();
    llvm::User* user = use.getUser();
    const auto* call = llvm::dyn_cast<llvm::CallBase>(user);
    if (call && call->isCallee(&use))
      continue;
    auto* constant = llvm::dyn_cast<llvm::Constant>(user);
    if (!constant || llvm::isa<llvm::GlobalVariable>(user)) {
      visit(*user);
    } else if (seen.insert(constant).second) {
      for (llvm::Use& next : constant->uses())
        pending.push_back(&next);
    }
  }
}

/// Whether code and variables for which `isKept` holds need a cell: they hold the address of its
/// function, or call a pointer to a function of its type, which is in `called`.
template <typename IsKept>
bool needsCell(llvm::GlobalVariable& cell, const llvm::SmallPtrSetImpl<llvm::FunctionType*>& called,
               IsKept isKept) {
  llvm::Function* function = functionOf(cell);
  if (!function)
    return false;
  bool isNeeded = called.contains(function->getFunctionType());
  visitAddressUsers(*function, [&](llvm::User& user) {
    if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(&user))
      isNeeded |= isKept(*instruction->getFunction());
    else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&user))
      isNeeded |= !isFunctionCell(*variable) && isKept(*variable);
  });
  return isNeeded;
}

} // namespace mneme::ir
