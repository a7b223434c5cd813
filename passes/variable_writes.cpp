#include "passes/variable_writes.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <string>

namespace mneme::passes {
namespace {

constexpr unsigned kKindIndex = 4; // (symbol, source, bytes, offset, kind)
constexpr uint64_t kHostToDevice = 1;

/// Returns whether this is a function of the CUDA runtime, either the C function or the template in
/// its headers, and not another function of that name in a namespace.
bool isRuntimes(llvm::StringRef function, const std::string& name) {
  if (function == name)
    return true;
  const bool isMangled = function.consume_front("_ZL") || function.consume_front("_Z");
  return isMangled && function.starts_with(std::to_string(name.size()) + name + "I");
}

enum class Use { Harmless, Writes, Unknown };

/// Writes that may be done only after the call has returned, and behind what else is in a stream,
/// are unknown ones: copies that are asynchronous, or on the device.
Use useIn(const llvm::User& user, const llvm::GlobalVariable& shadow) {
  if (llvm::isa<llvm::LoadInst>(user))
    return Use::Harmless;
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&user);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee)
    return Use::Unknown;
  const llvm::StringRef name = callee->getName();
  if (name == "__cudaRegisterVar")
    return Use::Harmless;
  if (call->arg_size() <= kKindIndex)
    return Use::Unknown;
  if (isRuntimes(name, "cudaMemcpyFromSymbol") || isRuntimes(name, "cudaMemcpyFromSymbolAsync"))
    return call->getArgOperand(0) == &shadow ? Use::Unknown : Use::Harmless;
  const auto* kind = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(kKindIndex));
  const bool isWrite = isRuntimes(name, "cudaMemcpyToSymbol") &&
                       call->getArgOperand(0) == &shadow && call->getArgOperand(1) != &shadow &&
                       kind && kind->getZExtValue() == kHostToDevice;
  return isWrite ? Use::Writes : Use::Unknown;
}

void tellBehind(llvm::CallBase& call) {
  llvm::Module& module = *call.getModule();
  llvm::IRBuilder<> builder(module.getContext());
  if (auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call))
    builder.SetInsertPoint(&*invoke->getNormalDest()->getFirstInsertionPt());
  else
    builder.SetInsertPoint(call.getNextNode());
  builder.SetCurrentDebugLocation(call.getDebugLoc());
  builder.CreateCall(module.getOrInsertFunction("mneme_variable_written", builder.getVoidTy()));
}

} // namespace

bool tellWrites(llvm::GlobalVariable& shadow) {
  if (!shadow.hasLocalLinkage())
    return false;
  llvm::SmallVector<llvm::CallBase*> writes;
  for (llvm::User* user : shadow.users()) {
    const Use use = useIn(*user, shadow);
    if (use == Use::Unknown)
      return false;
    if (use == Use::Writes)
      writes.push_back(llvm::cast<llvm::CallBase>(user));
  }
  for (llvm::CallBase* write : writes)
    tellBehind(*write);
  return true;
}

} // namespace mneme::passes
