#include "passes/kernel_closure.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "passes/device_module.h"
#include "runtime/compiler/ir/function_cells.h"

namespace mneme::passes {
namespace {

using GlobalSet = llvm::SetVector<llvm::GlobalValue*>;

/// Adds the globals that `root` refers to, through constant expressions.
void addReferenced(llvm::Value* root, GlobalSet& found) {
  llvm::SmallVector<llvm::Value*, 8> pending{root};
  llvm::SmallPtrSet<llvm::Value*, 8> seen;
  while (!pending.empty()) {
    llvm::Value* value = pending.pop_back_val();
    if (!llvm::isa<llvm::Constant>(value) || !seen.insert(value).second)
      continue;
    if (auto* global = llvm::dyn_cast<llvm::GlobalValue>(value)) {
      found.insert(global);
      continue;
    }
    for (llvm::Use& operand : llvm::cast<llvm::Constant>(value)->operands())
      pending.push_back(operand.get());
  }
}

/// Completes `found`, in the order in which the roots reach them: it does not depend on what else
/// is in the module.
void complete(GlobalSet& found) {
  for (size_t index = 0; index < found.size(); ++index) {
    llvm::GlobalValue* global = found[index];
    if (auto* function = llvm::dyn_cast<llvm::Function>(global)) {
      for (llvm::Use& operand : function->operands())
        addReferenced(operand.get(), found);
      for (llvm::Instruction& instruction : llvm::instructions(*function))
        for (llvm::Use& operand : instruction.operands())
          addReferenced(operand.get(), found);
    } else {
      for (llvm::Use& operand : global->operands())
        addReferenced(operand.get(), found);
    }
  }
}

/// Adds the cells of functions whose address is data in `found` and of those that a pointer called
/// there may lead to, by their type, with what these functions reach in turn.
void addCells(llvm::Module& module, GlobalSet& found) {
  llvm::SmallPtrSet<llvm::FunctionType*, 8> called;
  size_t visited = 0;
  for (bool changed = true; changed;) {
    complete(found);
    for (; visited < found.size(); ++visited)
      if (auto* function = llvm::dyn_cast<llvm::Function>(found[visited]))
        for (llvm::Instruction& instruction : llvm::instructions(*function))
          if (ir::callsPointer(instruction))
            called.insert(llvm::cast<llvm::CallBase>(instruction).getFunctionType());
    changed = false;
    for (llvm::GlobalVariable& cell : module.globals())
      if (!found.contains(&cell) && ir::needsCell(cell, called, [&](llvm::GlobalValue& global) {
            return found.contains(&global);
          }))
        changed |= found.insert(&cell);
  }
}

void eraseGlobal(llvm::GlobalValue& global) {
  global.removeDeadConstantUsers();
  if (!global.use_empty())
    global.replaceAllUsesWith(llvm::PoisonValue::get(global.getType()));
  global.eraseFromParent();
}

/// Keeps annotations of functions that are left.
void pruneAnnotations(llvm::Module& module, const GlobalSet& kept) {
  llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (!annotations)
    return;
  llvm::SmallVector<llvm::MDNode*> nodes;
  for (llvm::MDNode* node : annotations->operands()) {
    auto* global = node->getNumOperands() == 0
                       ? nullptr
                       : llvm::mdconst::dyn_extract_or_null<llvm::GlobalValue>(node->getOperand(0));
    if (global && kept.contains(global))
      nodes.push_back(node);
  }
  annotations->clearOperands();
  for (llvm::MDNode* node : nodes)
    annotations->addOperand(node);
  if (nodes.empty())
    annotations->eraseFromParent();
}

void removeOthers(llvm::Module& module, const GlobalSet& kept) {
  pruneAnnotations(module, kept);
  llvm::SmallVector<llvm::GlobalValue*> doomed;
  for (llvm::GlobalValue& global : module.global_values())
    if (!kept.contains(&global))
      doomed.push_back(&global);
  for (llvm::GlobalValue* global : doomed)
    if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(global))
      variable->setInitializer(nullptr);
  for (llvm::GlobalValue* global : doomed)
    eraseGlobal(*global);
}

/// Puts functions and variables in the order of `kept`.
void reorder(llvm::Module& module, const GlobalSet& kept) {
  for (llvm::GlobalValue* global : kept) {
    if (auto* function = llvm::dyn_cast<llvm::Function>(global)) {
      function->removeFromParent();
      module.getFunctionList().push_back(function);
    } else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(global)) {
      variable->removeFromParent();
      module.insertGlobalVariable(variable);
    }
  }
}

/// Whether `optnone` is the compiler's (-O0) and not the source's: then every function has it that
/// may.
bool isCompiledWithoutOptimizing(const llvm::Module& module) {
  return llvm::all_of(module, [](const llvm::Function& function) {
    return function.isDeclaration() || function.getName().starts_with("__") ||
           function.hasFnAttribute(llvm::Attribute::AlwaysInline) ||
           function.hasFnAttribute(llvm::Attribute::OptimizeNone);
  });
}

void prepareFunction(llvm::Function& function, bool dropsOptnone) {
  if (dropsOptnone && function.hasFnAttribute(llvm::Attribute::OptimizeNone)) {
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    function.removeFnAttr(llvm::Attribute::NoInline);
  }
  function.setComdat(nullptr);
}

void shareDefinition(llvm::GlobalValue& global, const llvm::GlobalValue* kernel) {
  if (global.isDeclaration() || &global == kernel)
    return;
  if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&global)) {
    if (variable->hasAvailableExternallyLinkage()) { // a vtable that another unit defines
      variable->setInitializer(nullptr);
      variable->setLinkage(llvm::GlobalValue::ExternalLinkage);
    } else if (isDeviceGlobal(*variable)) {
      variable->setLinkage(llvm::GlobalValue::AvailableExternallyLinkage);
      // The optimiser may read memory that is never written, as in the program.
      if (!variable->isConstant() || ir::isFunctionCell(*variable))
        variable->setExternallyInitialized(true);
      variable->setVisibility(llvm::GlobalValue::DefaultVisibility);
      variable->setDSOLocal(false);
    }
  } else if (global.hasExternalLinkage()) {
    global.setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
  }
}

Closure extract(llvm::Module& module, GlobalSet found, llvm::Function* kernel) {
  addCells(module, found);
  llvm::ValueToValueMapTy map;
  std::unique_ptr<llvm::Module> clone =
      llvm::CloneModule(module, map, [&](const llvm::GlobalValue* global) {
        return found.contains(const_cast<llvm::GlobalValue*>(global));
      });
  GlobalSet kept;
  for (llvm::GlobalValue* global : found)
    kept.insert(llvm::cast<llvm::GlobalValue>(map[global]));
  removeOthers(*clone, kept);
  reorder(*clone, kept);

  const bool dropsOptnone = isCompiledWithoutOptimizing(module);
  auto* clonedKernel = kernel ? llvm::cast<llvm::GlobalValue>(map[kernel]) : nullptr;
  for (llvm::GlobalValue* global : kept) {
    if (auto* function = llvm::dyn_cast<llvm::Function>(global))
      prepareFunction(*function, dropsOptnone);
    else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(global))
      variable->setComdat(nullptr);
    if (kernel)
      shareDefinition(*global, clonedKernel);
  }
  if (clonedKernel)
    clonedKernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
  clone->setModuleInlineAsm(module.getModuleInlineAsm());
  // The path of the source must not be embedded, so that units that share a kernel share its
  // closure.
  clone->setSourceFileName("");
  clone->setModuleIdentifier("");
  llvm::stripNonLineTableDebugInfo(*clone);
  return {std::move(clone), kernel ? kernel->getName().str() : std::string()};
}

bool isShared(const llvm::GlobalValue& global) {
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&global);
      variable && ir::isFunctionCell(*variable))
    return true;
  // Weak: a template's explicit instantiation, which other units only declare, say.
  if (global.isDeclaration() || !(global.hasExternalLinkage() || global.hasWeakLinkage()) ||
      global.getName().starts_with("__mneme_") || global.getName().starts_with("__clang_") ||
      global.getName().starts_with("__hip_cuid"))
    return false;
  if (const auto* function = llvm::dyn_cast<llvm::Function>(&global))
    return !isKernel(*function);
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&global);
  return !variable || variable->getAddressSpace() != kSharedSpace;
}

} // namespace

Closure extractKernel(llvm::Function& kernel) {
  GlobalSet found;
  found.insert(&kernel);
  return extract(*kernel.getParent(), std::move(found), &kernel);
}

Closure extractSharedCode(llvm::Module& module) {
  GlobalSet found;
  for (llvm::GlobalValue& global : module.global_values())
    if (isShared(global))
      found.insert(&global);
  if (found.empty())
    return {};
  return extract(module, std::move(found), nullptr);
}

} // namespace mneme::passes
