#include "passes/function_cells.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "passes/device_module.h"
#include "runtime/compiler/ir/compat.h"
#include "runtime/compiler/ir/function_cells.h"

namespace mneme::passes {
namespace {

constexpr unsigned kCellBytes = 8;

/// Whether a use of a function's address is one of ours or of the compiler's: a cell, or a list
/// such as llvm.used.
bool isCellOrCompilerList(const llvm::User& user) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&user);
  return variable && (variable->getName().starts_with("llvm.") || ir::isFunctionCell(*variable));
}

/// Whether code or variables of the program hold the function's address.
bool hasAddressTaken(llvm::Function& function) {
  function.removeDeadConstantUsers();
  bool isTaken = false;
  ir::visitAddressUsers(function,
                        [&](const llvm::User& user) { isTaken |= !isCellOrCompilerList(user); });
  return isTaken;
}

/// Gives a function the CPU and features that the module's other functions are compiled for.
void copyTarget(const llvm::Module& module, llvm::Function& function) {
  for (const llvm::Function& other : module) {
    if (other.isDeclaration())
      continue;
    for (const char* name : {"target-cpu", "target-features"})
      if (other.hasFnAttribute(name))
        function.addFnAttr(other.getFnAttribute(name));
    return;
  }
}

/// Replaces aliases of functions by the functions. A vtable may name a destructor by an alias of
/// another destructor, which would hide that its address is taken.
bool resolveAliases(llvm::Module& module) {
  bool changed = false;
  for (llvm::GlobalAlias& alias : module.aliases()) {
    auto* function = llvm::dyn_cast<llvm::Function>(alias.getAliasee()->stripPointerCasts());
    if (!function || function->getType() != alias.getType() || alias.isInterposable())
      continue;
    changed |= !alias.use_empty();
    alias.replaceAllUsesWith(function);
  }
  return changed;
}

/// Adds a constant device variable that holds the function's address, and keeps it in the image.
void addCell(llvm::Module& module, llvm::Function& function) {
  auto* cell = new llvm::GlobalVariable(
      module, function.getType(), /*isConstant=*/true,
      function.hasLocalLinkage() ? llvm::GlobalValue::InternalLinkage
                                 : llvm::GlobalValue::WeakODRLinkage,
      &function, validIdentifier(ir::kFunctionCellPrefix + function.getName().str()), nullptr,
      llvm::GlobalValue::NotThreadLocal, kGlobalSpace);
  cell->setAlignment(llvm::Align(kCellBytes));
  // Hidden variables have no symbol in an AMD code object.
  if (compat::moduleTriple(module).isAMDGCN() && !function.hasLocalLinkage())
    cell->setVisibility(llvm::GlobalValue::ProtectedVisibility);
  llvm::appendToCompilerUsed(module, {cell});
}

/// Keeps variables that hold addresses of functions, such as vtables, in the image. Without this
/// the optimiser drops a vtable that only the kernel with the constructor names. Tables that are
/// never written become constants, as the optimiser would make them later.
bool keepFunctionTables(llvm::Module& module) {
  const bool isAmd = compat::moduleTriple(module).isAMDGCN();
  llvm::SmallVector<llvm::GlobalValue*> kept;
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (!holdsFunctions(variable) || variable.isDeclaration() || ir::isFunctionCell(variable) ||
        !isDeviceGlobal(variable))
      continue;
    if (variable.hasLocalLinkage() && isNeverWritten(variable))
      variable.setConstant(true);
    if (variable.hasLinkOnceODRLinkage())
      variable.setLinkage(llvm::GlobalValue::WeakODRLinkage);
    if (isAmd && variable.hasHiddenVisibility()) // hidden variables have no symbol, see addCell()
      variable.setVisibility(llvm::GlobalValue::ProtectedVisibility);
    if (!variable.hasAvailableExternallyLinkage())
      kept.push_back(&variable);
  }
  llvm::appendToCompilerUsed(module, kept);
  return !kept.empty();
}

} // namespace

bool addFunctionCells(llvm::Module& module) {
  bool changed = resolveAliases(module);
  llvm::SmallVector<llvm::Function*> taken;
  for (llvm::Function& function : module)
    if (!function.isIntrinsic() && !isKernel(function) && hasAddressTaken(function))
      taken.push_back(&function);
  for (llvm::Function* function : taken)
    addCell(module, *function);
  return (!taken.empty() && keepFunctionTables(module)) || !taken.empty() || changed;
}

bool definePureVirtual(llvm::Module& module) {
  bool changed = false;
  for (const char* name : {"__cxa_pure_virtual", "__cxa_deleted_virtual"}) {
    llvm::Function* function = module.getFunction(name);
    if (!function || !function->isDeclaration() || function->use_empty())
      continue;
    copyTarget(module, *function);
    function->setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", function));
    builder.CreateCall(module.getOrInsertFunction("llvm.trap", builder.getVoidTy()));
    builder.CreateUnreachable();
    changed = true;
  }
  return changed;
}

} // namespace mneme::passes
