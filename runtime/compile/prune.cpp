#include "runtime/compile/prune.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/GlobalIFunc.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

#include <vector>

namespace mneme::compile {
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
        for (const llvm::Instruction& instruction : llvm::instructions(function))
          for (const llvm::Use& operand : instruction.operands())
            add(operand.get());
    }
  }

  bool contains(const llvm::Value* value) const { return seen_.contains(value); }

private:
  llvm::SmallPtrSet<const llvm::Value*, 32> seen_;
  llvm::SmallVector<const llvm::Constant*, 64> pending_;
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
  reached.run();
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

void internalizeExcept(llvm::Module& module, const llvm::Function& kernel) {
  for (llvm::GlobalValue& global : module.global_values()) {
    if (global.isDeclaration() || &global == &kernel || global.hasAvailableExternallyLinkage())
      continue;
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&global);
    if (variable && (variable->getAddressSpace() != kSharedAddressSpace ||
                     variable->getName().starts_with("llvm.")))
      continue;
    if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(&global))
      object->setComdat(nullptr);
    global.setVisibility(llvm::GlobalValue::DefaultVisibility);
    global.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

} // namespace mneme::compile
