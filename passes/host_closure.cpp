#include "passes/host_closure.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/GlobalIFunc.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "passes/host_references.h"

namespace mneme::passes {
namespace {

/// `ptr accessor()` of the unit: where a thread-local variable is for the thread that calls.
llvm::Function* accessorOf(llvm::GlobalVariable& variable) {
  llvm::Module& module = *variable.getParent();
  const std::string name = ("__mneme_thread_local_" + variable.getName()).str();
  if (llvm::Function* known = module.getFunction(name))
    return known;
  auto* type = llvm::FunctionType::get(llvm::PointerType::getUnqual(module.getContext()), false);
  auto* accessor = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  accessor->setUWTableKind(llvm::UWTableKind::Default);
  accessor->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", accessor));
  builder.CreateRet(builder.CreateThreadLocalAddress(&variable));
  return accessor;
}

class Cutter {
public:
  Cutter(llvm::Function& function, llvm::StringRef name, HostReferences references,
         bool dropsOptnone)
      : original_(function), references_(std::move(references)), dropsOptnone_(dropsOptnone) {
    closure_.module = llvm::CloneModule(*function.getParent(), map_, [&](const auto* global) {
      const auto* found = find(global);
      return found && (*found == Reference::Copy || *found == Reference::Shadow);
    });
    root_ = llvm::cast<llvm::Function>(map_[&function]);
    name_ = name;
  }

  HostClosure cut() && {
    resolveAliases();
    callCopies();
    for (auto& [global, reference] : references_.all)
      if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(global);
          variable && variable->isThreadLocal() && !replaceThreadLocal(*variable))
        return {{},
                {},
                ("thread-local variable '" + variable->getName() +
                 "' is used in a way that is not known")
                    .str()};
    for (auto& [global, reference] : references_.all)
      if (!global->isThreadLocal())
        refer(*global, reference);
    removeOthers();
    tidy();
    return std::move(closure_);
  }

private:
  llvm::Module& module() { return *closure_.module; }

  const Reference* find(const llvm::GlobalValue* global) const {
    const auto found = references_.all.find(const_cast<llvm::GlobalValue*>(global));
    return found == references_.all.end() ? nullptr : &found->second;
  }

  llvm::GlobalValue& clone(llvm::GlobalValue& global) {
    return *llvm::cast<llvm::GlobalValue>(map_[&global]);
  }

  void resolveAliases() {
    for (llvm::GlobalAlias& alias : original_.getParent()->aliases())
      if (llvm::GlobalValue* behind = behindAlias(&alias); behind != &alias)
        if (llvm::Value* copy = map_.lookup(&alias))
          copy->replaceAllUsesWith(&clone(*behind));
  }

  /// What is called and has its address taken too: calls go to a copy, which can be changed for
  /// those who call it.
  void callCopies() {
    for (auto& [global, reference] : references_.all) {
      auto* original = llvm::dyn_cast<llvm::Function>(global);
      if (!original || reference != Reference::Shadow || !references_.called.contains(original))
        continue;
      auto& shadow = llvm::cast<llvm::Function>(clone(*original));
      llvm::ValueToValueMapTy map;
      llvm::Function* copy = llvm::CloneFunction(&shadow, map);
      copy->setName("__mneme_copy." + shadow.getName());
      copies_.push_back(copy);
      shadow.replaceUsesWithIf(copy, [](const llvm::Use& use) {
        const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
        return call && call->isCallee(&use);
      });
    }
  }

  bool replaceThreadLocal(llvm::GlobalVariable& original) {
    auto& variable = llvm::cast<llvm::GlobalVariable>(clone(original));
    llvm::Function* accessor = accessorOf(original);
    auto* declared =
        llvm::Function::Create(accessor->getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                               accessor->getName(), module());
    declared->addFnAttr(llvm::Attribute::NoUnwind);
    llvm::convertUsersOfConstantsToInstructions({&variable});
    for (llvm::Use& use : llvm::make_early_inc_range(variable.uses())) {
      auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      if (!user)
        return false;
      auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
      llvm::Instruction* before = phi ? phi->getIncomingBlock(use)->getTerminator() : user;
      auto* access = llvm::CallInst::Create(declared, {}, "", before->getIterator());
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user);
          call && call->getIntrinsicID() == llvm::Intrinsic::threadlocal_address) {
        call->replaceAllUsesWith(access);
        call->eraseFromParent();
      } else {
        use.set(access);
      }
    }
    kept_.insert(declared);
    addAddress(*declared, *accessor);
    return true;
  }

  void addAddress(llvm::GlobalValue& here, llvm::Constant& there) {
    llvm::LLVMContext& context = module().getContext();
    module()
        .getOrInsertNamedMetadata(kAddressesMetadata)
        ->addOperand(llvm::MDNode::get(context, {llvm::ValueAsMetadata::get(&here)}));
    closure_.addresses.push_back(&there);
  }

  void refer(llvm::GlobalValue& original, Reference reference) {
    llvm::GlobalValue* global = &clone(original);
    global = declareIndirect(*global);
    kept_.insert(global);
    if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(global))
      object->setComdat(nullptr);
    if (reference == Reference::Copy) {
      become(*global, llvm::GlobalValue::InternalLinkage);
      return;
    }
    if (reference == Reference::Shadow) {
      become(*global, llvm::GlobalValue::AvailableExternallyLinkage);
    } else if (!global->hasExternalWeakLinkage()) {
      if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(global))
        variable->setInitializer(nullptr);
      become(*global, llvm::GlobalValue::ExternalLinkage);
    }
    global->setVisibility(llvm::GlobalValue::DefaultVisibility);
    global->setDSOLocal(false);
    if (reference == Reference::Symbol)
      return;
    if (original.hasLocalLinkage()) // a name that LLVM or libc may know otherwise
      global->setName("__mneme." + original.getName());
    addAddress(*global, original);
  }

  static void become(llvm::GlobalValue& global, llvm::GlobalValue::LinkageTypes linkage) {
    if (linkage == llvm::GlobalValue::InternalLinkage)
      global.setVisibility(llvm::GlobalValue::DefaultVisibility);
    global.setLinkage(linkage);
  }

  /// A declaration in the place of an alias or of a function that is chosen at load time.
  llvm::GlobalValue* declareIndirect(llvm::GlobalValue& global) {
    if (!llvm::isa<llvm::GlobalAlias>(global) && !llvm::isa<llvm::GlobalIFunc>(global))
      return &global;
    llvm::GlobalValue* declared = nullptr;
    if (auto* type = llvm::dyn_cast<llvm::FunctionType>(global.getValueType()))
      declared = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "", module());
    else
      declared = new llvm::GlobalVariable(module(), global.getValueType(), false,
                                          llvm::GlobalValue::ExternalLinkage, nullptr);
    declared->takeName(&global);
    global.replaceAllUsesWith(declared);
    return declared;
  }

  void removeOthers() {
    for (llvm::Function* copy : copies_) {
      copy->setComdat(nullptr);
      become(*copy, llvm::GlobalValue::InternalLinkage);
      kept_.insert(copy);
    }
    for (llvm::Function& function : module())
      if (function.isIntrinsic() && !function.use_empty())
        kept_.insert(&function);
    llvm::SmallVector<llvm::GlobalValue*> doomed;
    for (llvm::GlobalValue& global : module().global_values())
      if (!kept_.contains(&global))
        doomed.push_back(&global);
    for (llvm::GlobalValue* global : doomed) {
      if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(global))
        variable->setInitializer(nullptr);
      else if (auto* function = llvm::dyn_cast<llvm::Function>(global))
        function->deleteBody();
    }
    for (llvm::GlobalValue* global : doomed) {
      global->removeDeadConstantUsers();
      if (!global->use_empty())
        global->replaceAllUsesWith(llvm::PoisonValue::get(global->getType()));
      global->eraseFromParent();
    }
  }

  void tidy() {
    module().setModuleInlineAsm("");
    // Do not embed the path of the source.
    module().setSourceFileName("");
    module().setModuleIdentifier("");
    llvm::StripDebugInfo(module());
    keepMetadata();
    for (llvm::Function& function : module())
      prepare(function);
    root_->setLinkage(llvm::GlobalValue::ExternalLinkage);
    root_->setVisibility(llvm::GlobalValue::DefaultVisibility);
    // Calls of the program's function by this name, recursive ones included, go to its address.
    if (llvm::GlobalValue* other = module().getNamedValue(name_))
      other->setName("__mneme." + name_);
    root_->setName(name_);
    for (llvm::GlobalValue& global : module().global_values())
      if (global.isDeclarationForLinker())
        global.setDSOLocal(false);
  }

  /// The code will be in a library, whatever the unit is for; and it is linked by itself.
  void keepMetadata() {
    llvm::SmallVector<llvm::NamedMDNode*> doomed;
    for (llvm::NamedMDNode& node : module().named_metadata())
      if (node.getName() != "llvm.module.flags" && node.getName() != kAddressesMetadata)
        doomed.push_back(&node);
    for (llvm::NamedMDNode* node : doomed)
      node->eraseFromParent();
    llvm::NamedMDNode* flags = module().getModuleFlagsMetadata();
    if (!flags)
      return;
    llvm::SmallVector<llvm::MDNode*> kept;
    for (llvm::MDNode* flag : flags->operands()) {
      const auto* key = llvm::dyn_cast_or_null<llvm::MDString>(flag->getOperand(1));
      if (key && !llvm::is_contained({"PIC Level", "PIE Level", "direct-access-external-data",
                                      "EnableSplitLTOUnit", "ThinLTO", "UnifiedLTO"},
                                     key->getString()))
        kept.push_back(flag);
    }
    flags->clearOperands();
    for (llvm::MDNode* flag : kept)
      flags->addOperand(flag);
  }

  void prepare(llvm::Function& function) {
    if (dropsOptnone_ && function.hasFnAttribute(llvm::Attribute::OptimizeNone)) {
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.removeFnAttr(llvm::Attribute::NoInline);
    }
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
      if (countsForProfile(instruction))
        instruction.eraseFromParent();
  }

  llvm::Function& original_;
  HostReferences references_;
  bool dropsOptnone_;
  llvm::ValueToValueMapTy map_;
  HostClosure closure_;
  llvm::Function* root_ = nullptr;
  std::string name_;
  llvm::SmallVector<llvm::Function*> copies_;
  llvm::DenseSet<const llvm::GlobalValue*> kept_;
};

} // namespace

HostClosure extractHostFunction(llvm::Function& function, llvm::StringRef name,
                                const llvm::DenseSet<const llvm::Function*>& entries,
                                bool dropsOptnone) {
  HostReferences references = findReferences(function, entries);
  if (!references.whyNot.empty())
    return {{}, {}, std::move(references.whyNot)};
  return Cutter(function, name, std::move(references), dropsOptnone).cut();
}

} // namespace mneme::passes
