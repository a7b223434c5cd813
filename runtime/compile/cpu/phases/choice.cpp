// Decides whether a kernel can run in phases (phases.h).
#include <cstddef>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "runtime/abi/cpu_image.h"
#include "runtime/compile/cpu/emit.h"
#include "runtime/compile/cpu/phases/phases.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

// Beyond this the copies of phases cost more than fibers.
constexpr unsigned kMostInstructions = 30000;

constexpr size_t kWarpServices[] = {
    offsetof(mneme_cpu_services, warp_sync),   offsetof(mneme_cpu_services, shuffle),
    offsetof(mneme_cpu_services, vote),        offsetof(mneme_cpu_services, match_any),
    offsetof(mneme_cpu_services, match_all),   offsetof(mneme_cpu_services, warp_reduce),
    offsetof(mneme_cpu_services, active_mask), offsetof(mneme_cpu_services, wave),
};

bool isZero(const Value* value) {
  auto* number = dyn_cast<ConstantInt>(value);
  return number && number->isZero();
}

/// Every barrier is barrier 0 of the whole block, in the kernel itself.
bool meetsOnlyAtBlockBarriers(Module& module, Function& kernel) {
  for (size_t offset : kWarpServices)
    if (Function* service = module.getFunction(kServicePrefix + std::to_string(offset));
        service && !service->use_empty())
      return false;
  bool hasBarrier = false;
  for (size_t offset :
       {offsetof(mneme_cpu_services, barrier), offsetof(mneme_cpu_services, barrier_reduce)}) {
    Function* service = module.getFunction(kServicePrefix + std::to_string(offset));
    if (!service)
      continue;
    bool reduces = offset == offsetof(mneme_cpu_services, barrier_reduce);
    for (User* user : service->users()) {
      auto* call = dyn_cast<CallInst>(user);
      if (!call || call->getFunction() != &kernel || !isZero(call->getArgOperand(1)) ||
          (!reduces && !isZero(call->getArgOperand(2))))
        return false;
      hasBarrier = true;
    }
  }
  return hasBarrier;
}

bool suitsPhases(const Instruction& instruction) {
  if (auto* local = dyn_cast<AllocaInst>(&instruction))
    return local->isStaticAlloca() && local->getAlign() <= 256;
  // The callee may belong to another image and hold a barrier.
  if (auto* call = dyn_cast<CallInst>(&instruction); call && call->isIndirectCall())
    return false;
  if (instruction.isTerminator())
    return isa<BranchInst>(instruction) || isa<SwitchInst>(instruction) ||
           isa<ReturnInst>(instruction) || isa<UnreachableInst>(instruction);
  return !instruction.getType()->isTokenTy();
}

} // namespace

bool canBeCut(Function& function) {
  return function.getInstructionCount() <= kMostInstructions &&
         all_of(instructions(function),
                [](const Instruction& instruction) { return suitsPhases(instruction); });
}

bool canRunInPhases(Module& module, Function& kernel) {
  return meetsOnlyAtBlockBarriers(module, kernel) && canBeCut(kernel);
}

} // namespace mneme::compile::cpu
