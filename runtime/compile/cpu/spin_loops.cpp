// Which kernels need fibers: those with operations between threads, and those that wait in a loop
// for another thread.
#include <cstddef>

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "runtime/compile/cpu/emit.h"
#include "runtime/compile/cpu/steps.h"
#include "runtime/device/cpu/image_abi.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

constexpr size_t kBlockServices[] = {offsetof(mneme_cpu_services, barrier),
                                     offsetof(mneme_cpu_services, barrier_reduce)};
constexpr size_t kWarpServices[] = {
    offsetof(mneme_cpu_services, warp_sync),   offsetof(mneme_cpu_services, shuffle),
    offsetof(mneme_cpu_services, vote),        offsetof(mneme_cpu_services, match_any),
    offsetof(mneme_cpu_services, match_all),   offsetof(mneme_cpu_services, warp_reduce),
    offsetof(mneme_cpu_services, active_mask), offsetof(mneme_cpu_services, wave),
};

bool uses(Module& module, ArrayRef<size_t> services) {
  return any_of(services, [&](size_t offset) {
    Function* function = module.getFunction(kServicePrefix + std::to_string(offset));
    return function && !function->use_empty();
  });
}

/// A read whose value changes only when another thread writes. Reads that move by themselves
/// (a counter incremented, a compare-and-swap against a value just read) make progress alone.
bool waitsForOthers(const Instruction& instruction, const Loop& loop) {
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return load->isVolatile() || load->isAtomic();
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return loop.isLoopInvariant(exchange->getCompareOperand());
  if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    auto operation = update->getOperation();
    bool counts = operation == AtomicRMWInst::Add || operation == AtomicRMWInst::Sub;
    auto* step = dyn_cast<ConstantInt>(update->getValOperand());
    return !(counts && (!step || !step->isZero()));
  }
  return false;
}

bool isAtomicRead(const Instruction& instruction) {
  return isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction);
}

/// Follows the conditions under which `loop` is left back to the reads they depend on.
class ExitSlice {
public:
  ExitSlice(const Loop& loop, const DominatorTree& dominators)
      : loop_(loop), dominators_(dominators) {}

  bool findsWaiting() {
    SmallVector<BasicBlock*> exiting;
    loop_.getExitingBlocks(exiting);
    for (BasicBlock* block : exiting)
      addCondition(*block);
    while (!work_.empty()) {
      Instruction* instruction = work_.pop_back_val();
      if (waitsForOthers(*instruction, loop_))
        return true;
      if (isAtomicRead(*instruction))
        continue;
      for (Value* operand : instruction->operands())
        add(operand);
      if (auto* phi = dyn_cast<PHINode>(instruction))
        addControlOf(*phi);
    }
    return false;
  }

private:
  void add(Value* value) {
    auto* instruction = dyn_cast<Instruction>(value);
    if (instruction && loop_.contains(instruction) && seen_.insert(instruction).second)
      work_.push_back(instruction);
  }

  void addCondition(BasicBlock& block) {
    Instruction* terminator = block.getTerminator();
    if (auto* branch = dyn_cast<BranchInst>(terminator); branch && branch->isConditional())
      add(branch->getCondition());
    else if (auto* choice = dyn_cast<SwitchInst>(terminator))
      add(choice->getCondition());
  }

  /// Where control merges with different values, the branches between the merge and its dominator
  /// decide which.
  void addControlOf(PHINode& phi) {
    unsigned inside = 0;
    for (BasicBlock* block : phi.blocks())
      inside += loop_.contains(block);
    if (inside < 2)
      return;
    BasicBlock* from = phi.getParent();
    if (from != loop_.getHeader())
      from = dominators_.getNode(from)->getIDom()->getBlock();
    for (BasicBlock* block : loop_.blocks())
      if (dominators_.dominates(from, block))
        addCondition(*block);
  }

  const Loop& loop_;
  const DominatorTree& dominators_;
  SmallPtrSet<Instruction*, 32> seen_;
  SmallVector<Instruction*> work_;
};

/// The back edges of all loops of `function` that wait.
SmallSetVector<BasicBlock*, 8> waitingLatches(Function& function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  SmallSetVector<BasicBlock*, 8> latches;
  for (Loop* loop : loops.getLoopsInPreorder())
    if (ExitSlice(*loop, dominators).findsWaiting()) {
      SmallVector<BasicBlock*> found;
      loop->getLoopLatches(found);
      latches.insert(found.begin(), found.end());
    }
  return latches;
}

} // namespace

KernelTraits classify(Module& module, Function& kernel) {
  KernelTraits traits;
  traits.hasBarrier = uses(module, kBlockServices);
  SmallVector<BasicBlock*> latches;
  for (Function& function : module)
    if (!function.isDeclaration() && !function.hasFnAttribute(Attribute::StrictFP))
      append_range(latches, waitingLatches(function));
  traits.waits = !latches.empty();
  traits.isLoop = !traits.hasBarrier && !uses(module, kWarpServices) && latches.empty();
  for (BasicBlock* latch : latches) {
    Emit emit(*latch->getTerminator());
    Function* function = latch->getParent();
    Value* context = function == &kernel ? emit.context() : function->getArg(0);
    emit.service(offsetof(mneme_cpu_services, yield), emit.getVoidTy(), {context});
  }
  return traits;
}

} // namespace mneme::compile::cpu
