// A step of the lowering (steps.h): the kernel becomes one function, and what stays a call gets
// its context.
#include <cstddef>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

// A function this large with several callers stays one function: code size would multiply for
// little gain.
constexpr unsigned kLargeInstructions = 4000;
constexpr unsigned kKernelInstructions = 300000;

SmallVector<CallInst*> directCalls(Function& function) {
  SmallVector<CallInst*> calls;
  for (Instruction& instruction : instructions(function))
    if (auto* call = dyn_cast<CallInst>(&instruction))
      if (Function* callee = call->getCalledFunction(); callee && !callee->isDeclaration())
        calls.push_back(call);
  return calls;
}

/// Inlines bottom-up; functions on the current path are recursive and stay calls.
class Inliner {
public:
  void run(Function& function) {
    if (!done_.insert(&function).second)
      return;
    path_.insert(&function);
    SmallVector<CallInst*> calls = directCalls(function);
    for (CallInst* call : calls)
      if (!path_.contains(call->getCalledFunction()))
        run(*call->getCalledFunction());
      else
        recursive_.insert(call->getCalledFunction());
    path_.erase(&function);
    for (CallInst* call : calls)
      inlineInto(function, *call);
  }

private:
  bool isWorthInlining(Function& caller, Function& callee) {
    if (callee.hasFnAttribute(Attribute::StrictFP) || recursive_.contains(&callee) ||
        callee.isVarArg())
      return false;
    unsigned size = callee.getInstructionCount();
    if (size > kLargeInstructions && callee.getNumUses() > 1)
      return false;
    return caller.getInstructionCount() + size < kKernelInstructions;
  }

  void inlineInto(Function& caller, CallInst& call) {
    Function& callee = *call.getCalledFunction();
    if (!isWorthInlining(caller, callee))
      return;
    InlineFunctionInfo info;
    InlineFunction(call, info);
  }

  SmallPtrSet<Function*, 32> done_;
  SmallPtrSet<Function*, 16> path_;
  SmallPtrSet<Function*, 16> recursive_;
};

/// Gives `function` the context as first parameter and replaces it everywhere.
Function* addContextParameter(Function& function) {
  FunctionType* old = function.getFunctionType();
  SmallVector<Type*> types{PointerType::get(function.getContext(), 0)};
  append_range(types, old->params());
  auto* type = FunctionType::get(old->getReturnType(), types, old->isVarArg());
  Function* made = Function::Create(type, GlobalValue::InternalLinkage, "", function.getParent());
  made->takeName(&function);
  AttributeList attributes = function.getAttributes();
  SmallVector<AttributeSet> parameters{AttributeSet()};
  for (unsigned index = 0; index < old->getNumParams(); ++index)
    parameters.push_back(attributes.getParamAttrs(index));
  made->setAttributes(AttributeList::get(function.getContext(), attributes.getFnAttrs(),
                                         attributes.getRetAttrs(), parameters));
  made->splice(made->begin(), &function);
  for (unsigned index = 0; index < old->getNumParams(); ++index) {
    function.getArg(index)->replaceAllUsesWith(made->getArg(index + 1));
    made->getArg(index + 1)->takeName(function.getArg(index));
  }
  made->getArg(0)->setName("context");
  function.replaceAllUsesWith(made);
  function.eraseFromParent();
  return made;
}

void passContext(CallInst& call) {
  Emit emit(call);
  SmallVector<Value*> operands{emit.context()};
  append_range(operands, call.args());
  FunctionType* old = call.getFunctionType();
  SmallVector<Type*> types{emit.getPtrTy()};
  append_range(types, old->params());
  auto* type = FunctionType::get(old->getReturnType(), types, old->isVarArg());
  CallInst* made = emit.CreateCall(type, call.getCalledOperand(), operands);
  AttributeList attributes = call.getAttributes();
  SmallVector<AttributeSet> parameters{AttributeSet()};
  for (unsigned index = 0; index < call.arg_size(); ++index)
    parameters.push_back(attributes.getParamAttrs(index));
  made->setAttributes(AttributeList::get(call.getContext(), attributes.getFnAttrs(),
                                         attributes.getRetAttrs(), parameters));
  made->takeName(&call);
  call.replaceAllUsesWith(made);
  call.eraseFromParent();
}

/// The context placeholder in functions that stay functions is their first parameter.
void resolveContext(Module& module, Function& kernel) {
  Function* placeholder = module.getFunction(kContextPlaceholder);
  if (!placeholder)
    return;
  for (User* user : make_early_inc_range(placeholder->users())) {
    auto* call = cast<CallInst>(user);
    if (call->getFunction() == &kernel)
      continue;
    call->replaceAllUsesWith(call->getFunction()->getArg(0));
    call->eraseFromParent();
  }
}

/// A place of the program is one call of them, so each caller needs its own.
bool hasWaveOperations(Module& module) {
  Function* operation =
      module.getFunction(kServicePrefix + std::to_string(offsetof(mneme_cpu_services, wave)));
  return operation && !operation->use_empty();
}

} // namespace

void inlineCalls(Module& module, Function& kernel) {
  Inliner inliner;
  inliner.run(kernel);
  keepReachable(module, kernel);
  if (hasWaveOperations(module)) {
    for (Function& function : module)
      if (!function.isDeclaration())
        inliner.run(function);
    keepReachable(module, kernel);
  }

  SmallVector<Function*> kept;
  for (Function& function : module)
    if (!function.isDeclaration() && &function != &kernel &&
        !function.hasFnAttribute(Attribute::StrictFP))
      kept.push_back(&function);
  SmallPtrSet<Function*, 16> withContext;
  for (Function* function : kept)
    withContext.insert(addContextParameter(*function));
  SmallVector<CallInst*> calls;
  for (Function& function : module)
    for (Instruction& instruction : instructions(function))
      if (auto* call = dyn_cast<CallInst>(&instruction)) {
        auto* callee = dyn_cast<Function>(call->getCalledOperand()->stripPointerCasts());
        bool isIndirect = !callee && !call->isInlineAsm();
        if (isIndirect || withContext.contains(callee))
          calls.push_back(call);
      }
  for (CallInst* call : calls)
    passContext(*call);
  resolveContext(module, kernel);
}

} // namespace mneme::compile::cpu
