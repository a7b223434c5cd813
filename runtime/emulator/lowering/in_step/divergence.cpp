// Which values the lanes of a warp have in common (linear.h).
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/in_step/linear.h"

using namespace llvm;

namespace mneme::compile::cpu::in_step {
namespace {

constexpr StringRef kNvvmRegister = "llvm.nvvm.read.ptx.sreg.";

bool differsBetweenThreads(StringRef name) {
  return name.starts_with("tid.") || name.starts_with("lane") || name.starts_with("clock") ||
         name.starts_with("globaltimer");
}

/// A kernel's parameters, and what they hold by value.
bool readsParameter(const LoadInst& load) {
  if (load.hasMetadata(LLVMContext::MD_invariant_load))
    return true;
  const Value* base = load.getPointerOperand()->stripInBoundsOffsets();
  auto* argument = dyn_cast<Argument>(base->stripPointerCasts());
  return argument && argument->hasByValAttr();
}

} // namespace

StringRef registerName(const Instruction& instruction) {
  auto* call = dyn_cast<CallInst>(&instruction);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  StringRef name = callee ? callee->getName() : "";
  return name.consume_front(kNvvmRegister) || name.consume_front(kRegisterPrefix) ? name : "";
}

Divergence::Divergence(Function& kernel, const DominatorTree& dominators)
    : dominators_(dominators) {
  for (bool hasGrown = true; hasGrown;) {
    hasGrown = false;
    for (Instruction& instruction : instructions(kernel)) {
      if (instruction.getType()->isVoidTy() || divergent_.contains(&instruction))
        continue;
      if (isSource(instruction) || dependsOnDivergentBranch(instruction) ||
          any_of(instruction.operands(), [&](const Use& use) { return contains(use.get()); }))
        hasGrown |= divergent_.insert(&instruction).second;
    }
  }
}

bool Divergence::isSource(const Instruction& instruction) const {
  if (const StringRef name = registerName(instruction); !name.empty())
    return differsBetweenThreads(name);
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return !readsParameter(*load);
  if (auto* call = dyn_cast<CallInst>(&instruction))
    return !isa<IntrinsicInst>(call) || call->mayReadOrWriteMemory();
  return instruction.mayReadOrWriteMemory() || isa<AllocaInst>(instruction);
}

/// Where ways meet that threads have taken differently, they bring different values. A loop's own
/// counter is the same in threads that are in the same iteration.
bool Divergence::dependsOnDivergentBranch(const Instruction& instruction) const {
  auto* phi = dyn_cast<PHINode>(&instruction);
  if (!phi)
    return false;
  const auto branches = [&](const BasicBlock* block) {
    auto* branch = dyn_cast_or_null<BranchInst>(block ? block->getTerminator() : nullptr);
    return branch && branch->isConditional() && contains(branch->getCondition());
  };
  const BasicBlock* block = phi->getParent();
  for (const BasicBlock* before : phi->blocks())
    if (dominators_.dominates(block, before)) // a loop: one that threads leave one by one?
      return branches(block) || branches(before);
  const DomTreeNode* node = dominators_.getNode(block);
  if (!node || !node->getIDom() || branches(node->getIDom()->getBlock()))
    return true;
  return any_of(phi->blocks(), branches);
}

} // namespace mneme::compile::cpu::in_step
