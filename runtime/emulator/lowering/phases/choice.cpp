// Decides whether a kernel can run in phases (phases.h).
#include <cstddef>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/meetings.h"
#include "runtime/emulator/lowering/phases/meetings.h"
#include "runtime/emulator/lowering/phases/phases.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

// Beyond this the copies of phases cost more than fibers.
constexpr unsigned kMostInstructions = 30000;
// Each of them saves and restores what a lane has.
constexpr unsigned kMostMeetings = 256;

bool isZero(const Value* value) {
  auto* number = dyn_cast<ConstantInt>(value);
  return number && number->isZero();
}

/// Every barrier is barrier 0 of the whole block; they and all meetings of lanes are in the kernel
/// itself.
bool meetsInKernel(Module& module, Function& kernel) {
  const std::optional<unsigned> meetings = countWarpServices(module, kernel);
  if (!meetings || *meetings > kMostMeetings)
    return false;
  bool meets = *meetings > 0;
  for (size_t offset : kBlockServices) {
    Function* service = module.getFunction(kServicePrefix + std::to_string(offset));
    if (!service)
      continue;
    bool reduces = offset == offsetof(mneme_cpu_services, barrier_reduce);
    for (User* user : service->users()) {
      auto* call = dyn_cast<CallInst>(user);
      if (!call || call->getFunction() != &kernel || !isZero(call->getArgOperand(1)) ||
          (!reduces && !isZero(call->getArgOperand(2))))
        return false;
      meets = true;
    }
  }
  return meets;
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
  return meetsInKernel(module, kernel) && canBeCut(kernel);
}

} // namespace mneme::compile::cpu
