#include "runtime/compiler/ir/prune.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/GlobalIFunc.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

#include <vector>

#include "runtime/compiler/ir/function_cells.h"

namespace mneme::ir {
namespace {

constexpr unsigned kSharedAddressSpace = 3;

/// Marks globals reachable from a root through operands and initialisers.
class Reachability {
public:
  void add(const llvm::Value* value) {
    if (!llvm::isa<llvm::Constant>(value) || !seen_.insert(value).second)
      return;
    pending_.push_back(llvm::cast<llvm::Constant>(value));
  }

  void run() {
    while (!pending_.empty()) {
      const llvm::Constant* constant = pending_.pop_back_val();
      for (const llvm::Use& operand : constant->operands())
        add(operand.get());
      if (const auto* function = llvm::dyn_cast<llvm::Function>(constant))
        for (const llvm::Instruction& instruction : llvm::instructions(function)) {
          for (const llvm::Use& operand : instruction.operands())
            add(operand.get());
          if (callsPointer(instruction))
            called_.insert(llvm::cast<llvm::CallBase>(instruction).getFunctionType());
        }
    }
  }

  /// What is known by its address.
  void addCells(llvm::Module& module) {
    for (bool changed = true; changed;) {
      run();
      changed = false;
      for (llvm::GlobalVariable& cell : module.globals())
        if (!contains(&cell) && needsCell(cell, called_, [&](llvm::GlobalValue& global) {
              return contains(&global);
            })) {
          add(&cell);
          changed = true;
        }
    }
  }

  bool contains(const llvm::Value* value) const { return seen_.contains(value); }

private:
  llvm::SmallPtrSet<const llvm::Value*, 32> seen_;
  llvm::SmallVector<const llvm::Constant*, 64> pending_;
  llvm::SmallPtrSet<llvm::FunctionType*, 8> called_;
};

void eraseVariable(llvm::Module& module, llvm::StringRef name) {
  if (llvm::GlobalVariable* variable = module.getNamedGlobal(name)) {
    variable->replaceAllUsesWith(llvm::PoisonValue::get(variable->getType()));
    variable->eraseFromParent();
  }
}

bool namesErased(const llvm::MDNode& node, const Reachability& reached) {
  if (node.getNumOperands() == 0)
    return false;
  const auto* value = llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(node.getOperand(0).get());
  return !value ||
         (llvm::isa<llvm::GlobalValue>(value->getValue()) && !reached.contains(value->getValue()));
}

void pruneAnnotations(llvm::Module& module, const Reachability& reached) {
  llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (!annotations)
    return;
  std::vector<llvm::MDNode*> kept;
  for (llvm::MDNode* node : annotations->operands())
    if (!namesErased(*node, reached))
      kept.push_back(node);
  annotations->clearOperands();
  for (llvm::MDNode* node : kept)
    annotations->addOperand(node);
}

} // namespace

void pruneTo(llvm::Module& module, llvm::Function& kernel) {
  for (const char* name : {"llvm.used", "llvm.compiler.used", "llvm.global_ctors",
                           "llvm.global_dtors", "llvm.global.annotations"})
    eraseVariable(module, name);

  Reachability reached;
  reached.add(&kernel);
  reached.addCells(module);
  pruneAnnotations(module, reached);

  std::vector<llvm::GlobalValue*> doomed;
  for (llvm::GlobalValue& global : module.global_values())
    if (!reached.contains(&global))
      doomed.push_back(&global);
  for (llvm::GlobalValue* global : doomed) {
    if (auto* function = llvm::dyn_cast<llvm::Function>(global))
      function->deleteBody();
    else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(global))
      variable->setInitializer(nullptr);
  }
  for (llvm::GlobalValue* global : doomed) {
    global->removeDeadConstantUsers();
    if (!global->use_empty())
      global->replaceAllUsesWith(llvm::PoisonValue::get(global->getType()));
    global->eraseFromParent();
  }
}

void internalizeExcept(llvm::Module& module, const llvm::Function& kernel,
                       llvm::ArrayRef<std::string> ownFunctions) {
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (variable.isDeclaration() || variable.hasAvailableExternallyLinkage() ||
        variable.getAddressSpace() != kSharedAddressSpace ||
        variable.getName().starts_with("llvm."))
      continue;
    variable.setComdat(nullptr);
    variable.setVisibility(llvm::GlobalValue::DefaultVisibility);
    variable.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && &function != &kernel &&
        function.getCallingConv() == llvm::CallingConv::PTX_Kernel) {
      function.setComdat(nullptr);
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  for (const std::string& name : ownFunctions) {
    llvm::Function* function = module.getFunction(name);
    if (function && function != &kernel && function->hasLinkOnceODRLinkage())
      function->setLinkage(llvm::GlobalValue::ExternalLinkage);
  }
}

void eraseUncalled(llvm::Module& module, const llvm::Function& kernel) {
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (llvm::Function& function : llvm::make_early_inc_range(module)) {
      function.removeDeadConstantUsers();
      if (function.isDeclaration() || &function == &kernel || !function.use_empty())
        continue;
      function.eraseFromParent();
      isChanged = true;
    }
  }
}

} // namespace mneme::ir
