// Which kernels need fibers: those with operations between threads, and those that wait in a loop
// for another thread.
#include <cstddef>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/meetings.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

bool uses(Module& module, ArrayRef<size_t> services) {
  return any_of(services, [&](size_t offset) {
    Function* function = module.getFunction(kServicePrefix + std::to_string(offset));
    return function && !function->use_empty();
  });
}

/// Whether the value is the same in every iteration, even if the loop computes it.
bool isConstantIn(const Loop& loop, const Value* value, unsigned depth = 0) {
  auto* instruction = dyn_cast<Instruction>(value);
  if (!instruction || !loop.contains(instruction))
    return true;
  if (depth > 16 || isa<PHINode>(instruction) || instruction->mayReadOrWriteMemory())
    return false;
  return all_of(instruction->operands(),
                [&](const Use& operand) { return isConstantIn(loop, operand.get(), depth + 1); });
}

/// A read whose value changes only when another thread writes. Reads that move by themselves
/// (a counter incremented, a compare-and-swap against a value just read) make progress alone.
bool waitsForOthers(const Instruction& instruction, const Loop& loop) {
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return load->isVolatile() || load->isAtomic() ||
           (load->hasMetadata(kPastCacheMetadata) && isConstantIn(loop, load->getPointerOperand()));
  if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return isConstantIn(loop, exchange->getCompareOperand());
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

bool isService(const Instruction& instruction, size_t offset) {
  auto* call = dyn_cast<CallInst>(&instruction);
  Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName() == kServicePrefix + std::to_string(offset);
}

/// Functions that were not inlined and read what other threads write, directly or in a callee. A
/// loop whose exit depends on what they return waits.
class WaitingFunctions {
public:
  explicit WaitingFunctions(Module& module) {
    for (Function& function : module)
      if (any_of(instructions(function), readsFromOthers))
        functions_.insert(&function);
    for (bool hasGrown = true; hasGrown;) {
      hasGrown = false;
      for (Function& function : module)
        if (!functions_.contains(&function) &&
            any_of(instructions(function), [&](const Instruction& i) { return contains(i); }))
          hasGrown = functions_.insert(&function).second;
    }
    isAddressTaken_ = any_of(functions_, [](const Function* f) { return f->hasAddressTaken(); });
  }

  /// Whether this is a call of one of them.
  bool contains(const Instruction& instruction) const {
    auto* call = dyn_cast<CallInst>(&instruction);
    if (!call || call->isInlineAsm())
      return false;
    Function* callee = call->getCalledFunction();
    return callee ? functions_.contains(callee) : isAddressTaken_;
  }

private:
  static bool readsFromOthers(const Instruction& instruction) {
    if (auto* load = dyn_cast<LoadInst>(&instruction))
      return load->isVolatile() || load->isAtomic();
    return isAtomicRead(instruction);
  }

  SmallPtrSet<const Function*, 8> functions_;
  bool isAddressTaken_ = false;
};

/// Follows the conditions under which `loop` is left back to the reads they depend on.
class ExitSlice {
public:
  ExitSlice(const Loop& loop, const DominatorTree& dominators, const WaitingFunctions& waiting)
      : loop_(loop), dominators_(dominators), waiting_(waiting) {
    for (BasicBlock* block : loop.blocks())
      for (Instruction& instruction : *block) {
        isFenced_ |= isa<FenceInst>(instruction) ||
                     isService(instruction, offsetof(mneme_cpu_services, nanosleep));
        if (auto* store = dyn_cast<StoreInst>(&instruction))
          stores_.push_back(store);
      }
  }

  bool findsWaiting() {
    SmallVector<BasicBlock*> exiting;
    loop_.getExitingBlocks(exiting);
    for (BasicBlock* block : exiting)
      addCondition(*block);
    while (!work_.empty()) {
      Instruction* instruction = work_.pop_back_val();
      if (waitsForOthers(*instruction, loop_) || waiting_.contains(*instruction)) {
        if (auto* load = dyn_cast<LoadInst>(instruction); load && !load->isAtomic())
          load->setVolatile(true); // it must stay in the loop
        return true;
      }
      if (auto* load = dyn_cast<LoadInst>(instruction)) {
        // Fences and pauses are there for the sake of what is read between them.
        if (isFenced_ && isConstantIn(loop_, load->getPointerOperand())) {
          load->setVolatile(true);
          return true;
        }
        addStoresTo(*load);
      }
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

  /// What a thread of the block has read may come by way of memory (`done` in shared memory, set
  /// by one thread between two barriers).
  void addStoresTo(LoadInst& load) {
    const Value* object = getUnderlyingObject(load.getPointerOperand());
    for (StoreInst* store : stores_)
      if (getUnderlyingObject(store->getPointerOperand()) == object) {
        add(store->getValueOperand());
        if (auto* parent = dominators_.getNode(store->getParent())->getIDom())
          if (loop_.contains(parent->getBlock()))
            addCondition(*parent->getBlock());
      }
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
  const WaitingFunctions& waiting_;
  bool isFenced_ = false;
  SmallVector<StoreInst*> stores_;
  SmallPtrSet<Instruction*, 32> seen_;
  SmallVector<Instruction*> work_;
};

/// Whether any number of iterations that stay in the loop have the same effect as one. Only then
/// does a thread that keeps iterating make no progress.
bool isIdle(const Loop& loop) {
  static constexpr size_t harmless[] = {
      offsetof(mneme_cpu_services, barrier),   offsetof(mneme_cpu_services, barrier_reduce),
      offsetof(mneme_cpu_services, warp_sync), offsetof(mneme_cpu_services, shuffle),
      offsetof(mneme_cpu_services, vote),      offsetof(mneme_cpu_services, match_any),
      offsetof(mneme_cpu_services, match_all), offsetof(mneme_cpu_services, active_mask),
      offsetof(mneme_cpu_services, nanosleep), offsetof(mneme_cpu_services, wave)};
  return all_of(loop.blocks(), [&](BasicBlock* block) {
    return all_of(*block, [&](const Instruction& instruction) {
      if (!instruction.mayWriteToMemory() || isa<FenceInst>(instruction) ||
          isa<LoadInst>(instruction) || waitsForOthers(instruction, loop))
        return true;
      if (auto* store = dyn_cast<StoreInst>(&instruction))
        return isa<AllocaInst, GlobalVariable>(
            store->getPointerOperand()->stripPointerCasts()); // a variable, no element of an array
      return any_of(harmless, [&](size_t offset) { return isService(instruction, offset); });
    });
  });
}

struct WaitingLoop {
  SmallVector<BasicBlock*> entries; ///< where control comes in
  SmallVector<BasicBlock*> latches;
  bool isIdle = false;
};

SmallVector<WaitingLoop> waitingLoops(Function& function, const WaitingFunctions& waiting) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  SmallVector<WaitingLoop> found;
  for (Loop* loop : loops.getLoopsInPreorder()) {
    if (!ExitSlice(*loop, dominators, waiting).findsWaiting())
      continue;
    WaitingLoop& one = found.emplace_back();
    loop->getLoopLatches(one.latches);
    for (BasicBlock* before : predecessors(loop->getHeader()))
      if (!loop->contains(before))
        one.entries.push_back(before);
    one.isIdle = isIdle(*loop);
  }
  return found;
}

void callAtEnd(BasicBlock& block, size_t service, const Function& kernel) {
  Emit emit(*block.getTerminator());
  Function* function = block.getParent();
  Value* context = function == &kernel ? emit.context() : function->getArg(0);
  emit.service(service, emit.getVoidTy(), {context});
}

/// Lets other threads run while one waits, and reports when its wait is over.
void makeYield(const WaitingLoop& loop, const Function& kernel) {
  for (BasicBlock* entry : loop.entries)
    callAtEnd(*entry, offsetof(mneme_cpu_services, progress), kernel);
  for (BasicBlock* latch : loop.latches) {
    if (!loop.isIdle)
      callAtEnd(*latch, offsetof(mneme_cpu_services, progress), kernel);
    callAtEnd(*latch, offsetof(mneme_cpu_services, yield), kernel);
  }
}

} // namespace

KernelTraits classify(Module& module, Function& kernel) {
  KernelTraits traits;
  traits.hasBarrier = uses(module, kBlockServices);
  const WaitingFunctions waiting(module);
  SmallVector<WaitingLoop> loops;
  for (Function& function : module)
    if (!function.isDeclaration() && !function.hasFnAttribute(Attribute::StrictFP))
      append_range(loops, waitingLoops(function, waiting));
  traits.waits = !loops.empty();
  traits.isLoop = !traits.hasBarrier && !uses(module, kWarpServices) && loops.empty();
  for (const WaitingLoop& loop : loops)
    makeYield(loop, kernel);
  return traits;
}

} // namespace mneme::compile::cpu
