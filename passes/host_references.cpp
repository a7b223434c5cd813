#include "passes/host_references.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "runtime/compiler/ir/compat.h"

namespace mneme::passes {
namespace {

// Larger tables stay where they are: the optimiser hardly folds them.
constexpr uint64_t kMaxContentBytes = 256 * 1024;

bool isTypeInfo(const llvm::GlobalValue& global) {
  return global.getName().starts_with("_ZTI") || global.getName().starts_with("_ZTS");
}

/// Whether `root` holds addresses, of what the program has or of labels.
bool holdsAddresses(const llvm::Constant& root, bool ofLabels) {
  llvm::SmallVector<const llvm::Constant*, 8> pending{&root};
  llvm::SmallPtrSet<const llvm::Constant*, 8> seen;
  while (!pending.empty()) {
    const llvm::Constant* constant = pending.pop_back_val();
    if (!seen.insert(constant).second)
      continue;
    if (llvm::isa<llvm::BlockAddress>(constant)) {
      if (ofLabels)
        return true;
      continue;
    }
    if (llvm::isa<llvm::GlobalValue>(constant)) {
      if (!ofLabels)
        return true;
      continue;
    }
    for (const llvm::Use& operand : constant->operands())
      if (const auto* inner = llvm::dyn_cast<llvm::Constant>(operand.get()))
        pending.push_back(inner);
  }
  return false;
}

class Finder {
public:
  Finder(llvm::Function& root, const llvm::DenseSet<const llvm::Function*>& entries)
      : root_(root), entries_(entries), module_(*root.getParent()),
        library_(compat::moduleTriple(module_)) {}

  HostReferences find() && {
    found_.all[&root_] = Reference::Copy;
    pending_.push_back(&root_);
    while (!pending_.empty() && found_.whyNot.empty()) {
      llvm::GlobalValue* global = pending_.pop_back_val();
      if (auto* function = llvm::dyn_cast<llvm::Function>(global))
        visitBody(*function);
      else
        addReferenced(llvm::cast<llvm::GlobalVariable>(global)->getInitializer(),
                      /*needsSymbols=*/found_.all[global] == Reference::Copy);
    }
    return std::move(found_);
  }

private:
  void visitBody(llvm::Function& function) {
    if (function.hasPersonalityFn())
      note(*llvm::cast<llvm::GlobalValue>(function.getPersonalityFn()->stripPointerCasts()),
           Reference::Symbol);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (countsForProfile(instruction))
        continue;
      const bool isCatch = llvm::isa<llvm::LandingPadInst>(instruction);
      for (llvm::Use& operand : instruction.operands()) {
        if (call && call->isCallee(&operand) && llvm::isa<llvm::GlobalValue>(operand.get()))
          addCalled(*llvm::cast<llvm::GlobalValue>(operand.get()));
        else
          addReferenced(operand.get(), /*needsSymbols=*/isCatch);
      }
    }
  }

  /// What a value that is not an instruction leads to. `needsSymbols`: a table of addresses does
  /// not help.
  void addReferenced(llvm::Value* root, bool needsSymbols) {
    llvm::SmallVector<llvm::Value*, 8> pending{root};
    llvm::SmallPtrSet<llvm::Value*, 8> seen;
    while (!pending.empty()) {
      llvm::Value* value = pending.pop_back_val();
      if (!llvm::isa<llvm::Constant>(value) || !seen.insert(value).second)
        continue;
      if (llvm::isa<llvm::BlockAddress>(value)) // of a function that is copied
        continue;
      if (auto* global = llvm::dyn_cast<llvm::GlobalValue>(value)) {
        addTaken(*behindAlias(global), needsSymbols);
        continue;
      }
      for (llvm::Use& operand : llvm::cast<llvm::Constant>(value)->operands())
        pending.push_back(operand.get());
    }
  }

  void addCalled(llvm::GlobalValue& callee) {
    llvm::GlobalValue& global = *behindAlias(&callee);
    auto* function = llvm::dyn_cast<llvm::Function>(&global);
    if (!function || !canCopy(*function)) {
      addTaken(global, false);
      return;
    }
    found_.called.insert(function);
    if (!found_.all.contains(function))
      note(*function, Reference::Copy);
  }

  void addTaken(llvm::GlobalValue& global, bool needsSymbol) {
    auto* function = llvm::dyn_cast<llvm::Function>(&global);
    auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&global);
    if (needsSymbol)
      note(global, variable && canCopy(*variable) ? Reference::Copy : Reference::Symbol);
    else
      note(global, function   ? takenReference(*function)
                   : variable ? referenceTo(*variable)
                              : Reference::Address);
  }

  Reference takenReference(const llvm::Function& function) {
    if (canCopy(function))
      return Reference::Shadow;
    return isOfSystem(function) ? Reference::Symbol : Reference::Address;
  }

  Reference referenceTo(const llvm::GlobalVariable& variable) {
    if (variable.isThreadLocal())
      return Reference::Address;
    if (variable.getName().starts_with("_ZTVN10__cxxabiv1"))
      return Reference::Symbol;
    const bool hasContent = variable.isConstant() && canCopy(variable);
    if (isTypeInfo(variable))
      return hasContent ? Reference::Copy : Reference::Address;
    if (!hasContent) {
      if (variable.hasInitializer() && holdsAddresses(*variable.getInitializer(), true))
        found_.whyNot = ("variable '" + variable.getName() + "' holds addresses of labels").str();
      return Reference::Address;
    }
    if (holdsAddresses(*variable.getInitializer(), true))
      return Reference::Copy;
    const llvm::DataLayout& layout = module_.getDataLayout();
    if (layout.getTypeAllocSize(variable.getValueType()).getFixedValue() > kMaxContentBytes)
      return Reference::Address;
    return variable.hasGlobalUnnamedAddr() && !holdsAddresses(*variable.getInitializer(), false)
               ? Reference::Copy
               : Reference::Shadow;
  }

  /// A wider claim stays: what is caught has to be a symbol or a copy.
  void note(llvm::GlobalValue& global, Reference reference) {
    const auto [known, isNew] = found_.all.insert({&global, reference});
    if (!isNew) {
      const bool becomesShadow = known->second == Reference::Copy && reference == Reference::Shadow;
      const bool becomesSymbol =
          known->second == Reference::Address && reference == Reference::Symbol;
      if (becomesShadow || becomesSymbol)
        known->second = reference;
      return;
    }
    if (reference == Reference::Copy || reference == Reference::Shadow)
      pending_.push_back(&global);
  }

  bool canCopy(const llvm::GlobalValue& global) const {
    if (global.isDeclaration() || global.isInterposable())
      return false;
    if (const auto* function = llvm::dyn_cast<llvm::Function>(&global))
      return !entries_.contains(function) && !function->hasFnAttribute(llvm::Attribute::Naked);
    const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&global);
    return variable && variable->hasInitializer() && !variable->isThreadLocal() &&
           !variable->isExternallyInitialized();
  }

  /// Intrinsics, and what LLVM knows of libc and libm. Names of C++ are the program's own business:
  /// it may have its own operator new.
  bool isOfSystem(const llvm::Function& function) const {
    llvm::LibFunc known;
    return function.isIntrinsic() ||
           (function.isDeclaration() && !function.getName().starts_with("_Z") &&
            !function.getName().starts_with("__cxa") &&
            library_.getLibFunc(function.getName(), known));
  }

  llvm::Function& root_;
  const llvm::DenseSet<const llvm::Function*>& entries_;
  llvm::Module& module_;
  llvm::TargetLibraryInfoImpl library_;
  HostReferences found_;
  llvm::SmallVector<llvm::GlobalValue*> pending_;
};

} // namespace

bool countsForProfile(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getCalledFunction()->getName().starts_with("llvm.instrprof.");
}

llvm::GlobalValue* behindAlias(llvm::GlobalValue* global) {
  const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(global);
  if (!alias || alias->isInterposable())
    return global;
  auto* function = llvm::dyn_cast<llvm::Function>(
      const_cast<llvm::Constant*>(alias->getAliasee())->stripPointerCasts());
  return function ? function : global;
}

HostReferences findReferences(llvm::Function& root,
                              const llvm::DenseSet<const llvm::Function*>& entries) {
  return Finder(root, entries).find();
}

} // namespace mneme::passes
