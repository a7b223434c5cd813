#include "passes/shared_helpers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

namespace mneme::passes {
namespace {

bool isKnown(const llvm::Value& argument) {
  return llvm::isa<llvm::Constant>(argument) && !llvm::isa<llvm::UndefValue>(argument);
}

/// Its calls, or none if it is used otherwise: an address that is known allows no assumptions
/// anyway.
llvm::SmallVector<const llvm::CallBase*> callsOf(const llvm::Function& function) {
  llvm::SmallVector<const llvm::CallBase*> calls;
  for (const llvm::Use& use : function.uses()) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
    if (!call || !call->isCallee(&use))
      return {};
    calls.push_back(call);
  }
  return calls;
}

} // namespace

llvm::json::Object sharedHelpers(const Closure& closure, const llvm::Module& original) {
  llvm::json::Object shared;
  for (const llvm::Function& function : *closure.module) {
    const llvm::Function* source = original.getFunction(function.getName());
    if (function.isDeclaration() || !function.hasLocalLinkage() || function.isVarArg() ||
        function.hasFnAttribute(llvm::Attribute::AlwaysInline) || !source)
      continue;
    const llvm::SmallVector<const llvm::CallBase*> calls = callsOf(*source);
    const bool hasOtherCallers = llvm::any_of(calls, [&](const llvm::CallBase* call) {
      return !closure.module->getFunction(call->getFunction()->getName());
    });
    if (!hasOtherCallers)
      continue;
    llvm::json::Array agreed;
    for (unsigned index = 0; index < source->arg_size(); ++index)
      if (isKnown(*calls.front()->getArgOperand(index)) &&
          llvm::all_of(calls, [&](const llvm::CallBase* call) {
            return call->getArgOperand(index) == calls.front()->getArgOperand(index);
          }))
        agreed.push_back(index);
    shared[function.getName()] = std::move(agreed);
  }
  return shared;
}

} // namespace mneme::passes
