#include "runtime/compiler/module/other_callers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace mneme::compile {
namespace {

constexpr const char* kPrefix = "__mneme_other_caller_of_";

const llvm::CallBase* callOf(const llvm::Function& function) {
  for (const llvm::Use& use : function.uses())
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
        call && call->isCallee(&use))
      return call;
  return nullptr;
}

void addOtherCaller(llvm::Function& function, const SharedFunction& shared) {
  const llvm::CallBase* known = callOf(function);
  if (!known)
    return;
  llvm::Module& module = *function.getParent();
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       function.getFunctionType()->params(), false);
  auto* caller = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage,
                                        kPrefix + shared.name, module);
  // Nothing is inlined here: what a caller does not inline stays called.
  caller->addFnAttr(llvm::Attribute::OptimizeNone);
  caller->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", caller));
  llvm::SmallVector<llvm::Value*> arguments;
  for (llvm::Argument& argument : caller->args()) {
    llvm::Value* value = known->getArgOperand(argument.getArgNo());
    const bool isAgreed =
        llvm::is_contained(shared.agreed, argument.getArgNo()) && llvm::isa<llvm::Constant>(value);
    arguments.push_back(isAgreed ? value : &argument);
  }
  llvm::CallInst* call = builder.CreateCall(&function, arguments);
  call->setCallingConv(function.getCallingConv());
  call->setAttributes(known->getAttributes());
  builder.CreateRetVoid();
}

} // namespace

void addOtherCallers(llvm::Module& module, llvm::ArrayRef<SharedFunction> functions) {
  for (const SharedFunction& shared : functions)
    if (llvm::Function* function = module.getFunction(shared.name);
        function && !function->isDeclaration() && function->hasLocalLinkage() &&
        !function->isVarArg())
      addOtherCaller(*function, shared);
}

void removeOtherCallers(llvm::Module& module) {
  for (llvm::Function& caller : llvm::make_early_inc_range(module)) {
    if (!caller.getName().starts_with(kPrefix))
      continue;
    caller.deleteBody();
    caller.eraseFromParent();
  }
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (llvm::Function& function : llvm::make_early_inc_range(module)) {
      if (!function.hasLocalLinkage() || !function.use_empty())
        continue;
      function.eraseFromParent();
      isChanged = true;
    }
  }
}

} // namespace mneme::compile
