// Finds out which branches all threads of a block take alike (phases.h).
#include <cstddef>

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/phases/phases.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

class ControlAnalysis {
public:
  ControlAnalysis(Function& body, const PhaseArguments& arguments,
                  const std::vector<PhaseBarrier>& barriers)
      : body_(body), arguments_(arguments), postDominators_(body) {
    for (const PhaseBarrier& barrier : barriers) {
      barrierCalls_.insert(barrier.call);
      barrierBlocks_.insert(barrier.call->getParent());
    }
    findMeeting();
  }

  PhaseControl run() {
    for (unsigned axis = 0; axis < 3; ++axis)
      mark(body_.getArg(arguments_.thread(axis)));
    for (Instruction& instruction : instructions(body_))
      if (isSource(instruction))
        mark(&instruction);
    while (!work_.empty()) {
      const Value* value = work_.pop_back_val();
      for (const User* user : value->users())
        if (auto* instruction = dyn_cast<Instruction>(user))
          spread(*instruction);
    }
    return std::move(control_);
  }

private:
  /// Blocks from which a barrier can still be reached; in all others threads are on their own.
  void findMeeting() {
    SmallVector<BasicBlock*> work(barrierBlocks_.begin(), barrierBlocks_.end());
    while (!work.empty()) {
      BasicBlock* block = work.pop_back_val();
      if (meeting_.insert(block).second)
        append_range(work, predecessors(block));
    }
  }

  bool isSource(const Instruction& instruction) const {
    if (isa<AllocaInst>(instruction))
      return true;
    if (auto* load = dyn_cast<LoadInst>(&instruction))
      return !load->hasMetadata(LLVMContext::MD_invariant_load) &&
             !readsLaunchConstant(*load, body_.getArg(arguments_.context));
    if (auto* call = dyn_cast<CallInst>(&instruction))
      return !call->doesNotAccessMemory() && !barrierCalls_.contains(call);
    return instruction.mayReadOrWriteMemory();
  }

  void mark(const Value* value) {
    if (control_.divergent.insert(value).second)
      work_.push_back(value);
  }

  void spread(const Instruction& instruction) {
    if (barrierCalls_.contains(&instruction))
      return; // what a barrier reduces to is the same for all
    if (!instruction.isTerminator())
      mark(&instruction);
    else if (instruction.getNumSuccessors() > 1 && meeting_.contains(instruction.getParent()))
      spreadBranch(*instruction.getParent());
  }

  void spreadBranch(const BasicBlock& from) {
    if (!branches_.insert(&from).second)
      return;
    SmallSetVector<const BasicBlock*, 8> next;
    for (const BasicBlock* block : successors(&from)) {
      if (meeting_.contains(block))
        next.insert(block);
      else
        control_.hasEarlyExit = true;
    }
    if (next.size() < 2)
      return;
    const DomTreeNode* join = postDominators_.getNode(&from)->getIDom();
    if (!join || !join->getBlock()) {
      control_.isUniform = false;
      return;
    }
    spreadRegion(from, next.takeVector(), *join->getBlock());
  }

  /// Between a branch on which threads differ and the place where they are together again.
  void spreadRegion(const BasicBlock& from, ArrayRef<const BasicBlock*> next,
                    const BasicBlock& join) {
    SmallSetVector<const BasicBlock*, 16> region;
    SmallVector<const BasicBlock*> work(next);
    while (!work.empty()) {
      const BasicBlock* block = work.pop_back_val();
      if (block == &join || !region.insert(block))
        continue;
      for (const BasicBlock* successor : successors(block)) {
        if (meeting_.contains(successor))
          work.push_back(successor);
        else
          control_.hasEarlyExit = true;
      }
    }
    bool isLoop = region.contains(&from);
    for (const BasicBlock* block : region) {
      if (barrierBlocks_.contains(block))
        control_.isUniform = false;
      for (const Instruction& instruction : *block)
        if (isLoop || isa<PHINode>(instruction))
          mark(&instruction);
    }
    for (const PHINode& phi : join.phis())
      mark(&phi);
  }

  Function& body_;
  const PhaseArguments& arguments_;
  PostDominatorTree postDominators_;
  SmallPtrSet<const Instruction*, 16> barrierCalls_;
  SmallPtrSet<BasicBlock*, 16> barrierBlocks_;
  SmallPtrSet<const BasicBlock*, 32> meeting_;
  SmallPtrSet<const BasicBlock*, 16> branches_;
  SmallVector<const Value*> work_;
  PhaseControl control_;
};

} // namespace

bool readsLaunchConstant(const LoadInst& load, const Value* context) {
  if (!load.isSimple())
    return false;
  const Value* base = load.getPointerOperand();
  while (auto* address = dyn_cast<GEPOperator>(base)) {
    if (!address->hasAllConstantIndices())
      return false;
    base = address->getPointerOperand();
  }
  if (isa<GlobalVariable>(base)) // the slot of a device variable
    return load.hasMetadata(LLVMContext::MD_invariant_load);
  if (auto* argument = dyn_cast<Argument>(base))
    return argument == context || (argument->hasNoAliasAttr() && argument->onlyReadsMemory());
  // What the first field of the context points to: the launch.
  auto* launch = dyn_cast<LoadInst>(base);
  if (!launch || !launch->isSimple())
    return false;
  const Value* field = launch->getPointerOperand();
  auto* address = dyn_cast<GEPOperator>(field);
  static_assert(offsetof(mneme_cpu_context, launch) == 0);
  if (address && address->hasAllZeroIndices())
    field = address->getPointerOperand();
  return field == context;
}

PhaseControl analyzeControl(Function& body, const PhaseArguments& arguments,
                            const std::vector<PhaseBarrier>& barriers) {
  return ControlAnalysis(body, arguments, barriers).run();
}

} // namespace mneme::compile::cpu
