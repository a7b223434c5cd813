#include "runtime/compiler/reflect.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

namespace mneme::compile {
namespace {

constexpr const char* kFlag = "nvvm-reflect-ftz";

uint64_t flushes(const llvm::Module& module) {
  const auto* value =
      llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(module.getModuleFlag(kFlag));
  return value ? value->getZExtValue() : 0;
}

bool asksForFlushing(const llvm::CallBase& call) {
  const auto* name =
      call.arg_size() == 1
          ? llvm::dyn_cast<llvm::GlobalVariable>(call.getArgOperand(0)->stripPointerCasts())
          : nullptr;
  const auto* text = name && name->hasInitializer()
                         ? llvm::dyn_cast<llvm::ConstantDataSequential>(name->getInitializer())
                         : nullptr;
  return text && text->isCString() && text->getAsCString() == "__CUDA_FTZ";
}

void answer(llvm::Module& module) {
  const uint64_t value = flushes(module);
  for (const char* name : {"__nvvm_reflect", "llvm.nvvm.reflect"}) {
    llvm::Function* asked = module.getFunction(name);
    if (!asked)
      continue;
    for (llvm::User* user : llvm::make_early_inc_range(asked->users()))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call && asksForFlushing(*call)) {
        call->replaceAllUsesWith(llvm::ConstantInt::get(call->getType(), value));
        call->eraseFromParent();
      }
  }
  llvm::NamedMDNode* flags = module.getModuleFlagsMetadata();
  if (!flags)
    return;
  llvm::SmallVector<llvm::MDNode*> kept;
  for (llvm::MDNode* flag : flags->operands())
    if (const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(flag->getOperand(1));
        !name || name->getString() != kFlag)
      kept.push_back(flag);
  flags->clearOperands();
  for (llvm::MDNode* flag : kept)
    flags->addOperand(flag);
}

} // namespace

void answerBeforeLinking(llvm::Module& first, llvm::Module& second) {
  // What is linked already has no flag once its questions are answered.
  const bool isSame = flushes(first) == flushes(second) &&
                      !first.getModuleFlag(kFlag) == !second.getModuleFlag(kFlag);
  if (isSame)
    return;
  answer(first);
  answer(second);
}

} // namespace mneme::compile
