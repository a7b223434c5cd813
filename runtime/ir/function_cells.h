// Room ir: what passes and compilation agree on about addresses of functions. Header only,
// because the passes link nothing of compile.
//
// The address of a device function means something in the loaded module only that it belongs to: a
// kernel that is compiled alone has functions of its own elsewhere. What memory of the program
// holds is the address in the program's module. So the passes give every function whose address is
// data a cell: a constant device variable that holds it, which is found, recorded and placed like
// any device variable. Code compiled later reads from there what the program calls the function,
// and compares with it what it is asked to call.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <string>

namespace mneme::ir {

/// What names of cells begin with; the function's name follows.
inline constexpr char kFunctionCellPrefix[] = "__mneme_function_";

inline bool isFunctionCell(const llvm::GlobalVariable& variable) {
  return variable.getName().starts_with(kFunctionCellPrefix);
}

/// The function of a cell; null if another unit defines the cell.
inline llvm::Function* functionOf(llvm::GlobalVariable& cell) {
  if (!isFunctionCell(cell) || !cell.hasInitializer())
    return nullptr;
  return llvm::dyn_cast<llvm::Function>(cell.getInitializer()->stripPointerCasts());
}

/// A call of what a pointer says.
inline bool callsPointer(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call && !call->isInlineAsm() &&
         !llvm::isa<llvm::Function, llvm::GlobalAlias>(
             call->getCalledOperand()->stripPointerCasts());
}

/// Visits what uses `function` other than by calling it: instructions and variables.
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
