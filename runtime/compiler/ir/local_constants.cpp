#include "runtime/compiler/ir/local_constants.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/TargetParser/Triple.h>

namespace mneme::ir {
namespace {

constexpr unsigned kLocal = 5; // llvm/docs/NVPTXUsage.rst, "Address Spaces"

/// Casts of addresses in a variable to local memory.
llvm::SmallVector<llvm::Constant*> castsToLocal(llvm::GlobalVariable& variable) {
  llvm::SmallVector<llvm::Constant*> found, waiting{&variable};
  while (!waiting.empty())
    for (llvm::User* user : waiting.pop_back_val()->users()) {
      auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(user);
      if (!expression || !expression->getType()->isPointerTy())
        continue;
      const bool isLocal = expression->getType()->getPointerAddressSpace() == kLocal;
      (isLocal ? found : waiting).push_back(expression);
    }
  return found;
}

llvm::Value* copyOf(llvm::GlobalVariable& variable, llvm::Function& function) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  llvm::Type* type = variable.getValueType();
  llvm::AllocaInst* copy = builder.CreateAlloca(type, nullptr, variable.getName() + ".local");
  const llvm::Align align = layout.getValueOrABITypeAlignment(variable.getAlign(), type);
  copy->setAlignment(align);
  builder.CreateMemCpy(copy, align, &variable, align, layout.getTypeAllocSize(type));
  return copy;
}

void copyIn(llvm::Function& function, llvm::GlobalVariable& variable) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  llvm::Value* copy = nullptr;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* cast = llvm::dyn_cast<llvm::AddrSpaceCastInst>(&instruction);
    if (!cast || cast->getDestAddressSpace() != kLocal)
      continue;
    llvm::APInt offset(layout.getIndexTypeSizeInBits(cast->getOperand(0)->getType()), 0);
    const llvm::Value* base = cast->getOperand(0)->stripAndAccumulateConstantOffsets(
        layout, offset, /*AllowNonInbounds=*/true);
    if (base != &variable)
      continue;
    if (!copy)
      copy = copyOf(variable, function);
    llvm::IRBuilder<> builder(cast);
    cast->setOperand(0,
                     offset.isZero() ? copy : builder.CreatePtrAdd(copy, builder.getInt(offset)));
  }
}

} // namespace

void copyConstantsReadAsLocal(llvm::Module& module) {
  if (!llvm::Triple(module.getTargetTriple()).isNVPTX())
    return;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (!variable.isConstant() || !variable.hasInitializer())
      continue;
    const llvm::SmallVector<llvm::Constant*> casts = castsToLocal(variable);
    if (casts.empty())
      continue;
    llvm::convertUsersOfConstantsToInstructions(casts, nullptr, /*RemoveDeadConstants=*/true,
                                                /*IncludeSelf=*/true);
    for (llvm::Function& function : module)
      if (!function.isDeclaration())
        copyIn(function, variable);
  }
}

} // namespace mneme::ir
