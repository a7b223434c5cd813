// A step of the lowering (steps.h): answers __nvvm_reflect and drops the branches that depend on
// it.
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/Local.h>

#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

std::string reflectName(const Value* operand) {
  auto* global = dyn_cast<GlobalVariable>(getUnderlyingObject(operand));
  if (!global || !global->hasInitializer())
    return {};
  auto* data = dyn_cast<ConstantDataSequential>(global->getInitializer());
  return data && data->isCString() ? data->getAsCString().str() : std::string();
}

/// Unknown names are 0, as the vendor's own tools answer.
uint64_t reflectValue(const std::string& name, const CpuLoweringOptions& options) {
  if (name == "__CUDA_ARCH")
    return uint64_t(options.arch) * 10;
  if (name == "__CUDA_FTZ")
    return options.flushDenormals;
  if (name == "__CUDA_PREC_DIV")
    return options.preciseDivision;
  if (name == "__CUDA_PREC_SQRT")
    return options.preciseSqrt;
  return 0;
}

/// Folds `start` and everything that becomes constant with it.
void foldForward(Instruction& start, const DataLayout& layout) {
  SetVector<Instruction*> work;
  work.insert(&start);
  while (!work.empty()) {
    Instruction* instruction = work.pop_back_val();
    Constant* folded = ConstantFoldInstruction(instruction, layout);
    if (!folded)
      continue;
    for (User* user : instruction->users())
      work.insert(cast<Instruction>(user));
    instruction->replaceAllUsesWith(folded);
    if (isInstructionTriviallyDead(instruction))
      instruction->eraseFromParent();
  }
}

} // namespace

void foldTo(Instruction& instruction, Constant& value) {
  const DataLayout& layout = instruction.getModule()->getDataLayout();
  SmallVector<WeakVH> users; // folding one may erase another
  for (User* next : instruction.users())
    users.push_back(next);
  instruction.replaceAllUsesWith(&value);
  instruction.eraseFromParent();
  for (const WeakVH& next : users)
    if (next)
      foldForward(cast<Instruction>(*next), layout);
}

void dropDeadBranches(Function& function) {
  for (BasicBlock& block : function)
    ConstantFoldTerminator(&block, true);
  removeUnreachableBlocks(function);
}

void foldReflect(Module& module, const CpuLoweringOptions& options) {
  SmallSetVector<Function*, 8> changed;
  for (const char* name : {"__nvvm_reflect", "llvm.nvvm.reflect", "__nvvm_reflect_ocl"}) {
    Function* reflect = module.getFunction(name);
    if (!reflect)
      continue;
    for (User* user : make_early_inc_range(reflect->users())) {
      auto* call = dyn_cast<CallInst>(user);
      if (!call || call->getCalledFunction() != reflect)
        continue;
      Constant* value = ConstantInt::get(
          call->getType(), reflectValue(reflectName(call->getArgOperand(0)), options));
      changed.insert(call->getFunction());
      foldTo(*call, *value);
    }
  }
  for (Function* function : changed)
    dropDeadBranches(*function);
}

} // namespace mneme::compile::cpu
