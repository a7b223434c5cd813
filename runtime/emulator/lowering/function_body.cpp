#include "runtime/emulator/lowering/function_body.h"

#include <llvm/ADT/StringExtras.h>

using namespace llvm;

namespace mneme::compile::cpu {

ReturnInst* startBody(Function& function) {
  function.deleteBody();
  BasicBlock* entry = BasicBlock::Create(function.getContext(), "entry", &function);
  function.setLinkage(GlobalValue::InternalLinkage);
  return ReturnInst::Create(function.getContext(), nullptr, entry);
}

void finishBody(ReturnInst* placeholder, Value* result) {
  LLVMContext& context = placeholder->getContext();
  if (result && result->getType()->isVoidTy())
    result = nullptr;
  ReturnInst::Create(context, result, placeholder->getIterator());
  placeholder->eraseFromParent();
}

void dropOtherBlocks(Function& function, BasicBlock& kept) {
  for (BasicBlock& block : function)
    if (&block != &kept)
      block.dropAllReferences();
  for (BasicBlock& block : make_early_inc_range(function))
    if (&block != &kept)
      block.eraseFromParent();
  function.setLinkage(GlobalValue::InternalLinkage);
}

SmallVector<Value*> argumentsOf(Function& function) {
  SmallVector<Value*> values;
  for (Argument& value : function.args())
    values.push_back(&value);
  return values;
}

StringRef libraryName(const Function& function) {
  StringRef name = function.getName();
  auto [front, number] = name.rsplit('.');
  bool isNumber = !number.empty() && all_of(number, [](char c) { return isDigit(c); });
  return isNumber ? front : name;
}

} // namespace mneme::compile::cpu
