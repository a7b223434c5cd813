// The order of wave operations in a program. Lanes of a wave that wait at different operations go
// on where the lowest number is: those still in a loop before those behind it, both sides of a
// branch before what follows, as the hardware does when it brings lanes together again. A number
// does not distinguish iterations: where lanes can skip an operation, they wait at the end of the
// iteration.
#include <cstddef>

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/amdgcn/amdgcn.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

/// Blocks in topological order, each loop's together.
class ProgramOrder {
public:
  explicit ProgramOrder(Function& function) : dominators_(function), loops_(dominators_) {
    orderRegion(nullptr, &function.getEntryBlock());
  }
  ArrayRef<BasicBlock*> blocks() const { return blocks_; }

private:
  /// The loop directly inside `region` that holds `block`, or null: it is in no deeper one.
  Loop* innerLoop(BasicBlock* block, Loop* region) {
    Loop* loop = loops_.getLoopFor(block);
    while (loop && loop != region && loop->getParentLoop() != region)
      loop = loop->getParentLoop();
    return loop == region ? nullptr : loop;
  }

  void orderRegion(Loop* region, BasicBlock* header) {
    SmallPtrSet<BasicBlock*, 16> seen;
    SmallVector<BasicBlock*> postOrder;
    visit(region, header, header, seen, postOrder);
    for (BasicBlock* block : reverse(postOrder))
      if (Loop* inner = innerLoop(block, region))
        orderRegion(inner, block);
      else
        blocks_.push_back(block);
  }

  /// Depth first; an inner loop counts as one block, its header.
  void visit(Loop* region, BasicBlock* header, BasicBlock* start,
             SmallPtrSetImpl<BasicBlock*>& seen, SmallVectorImpl<BasicBlock*>& postOrder) {
    SmallVector<std::pair<BasicBlock*, SmallVector<BasicBlock*>>> stack;
    seen.insert(start);
    stack.emplace_back(start, nextOf(region, header, start));
    while (!stack.empty()) {
      auto& [block, rest] = stack.back();
      if (rest.empty()) {
        postOrder.push_back(block);
        stack.pop_back();
        continue;
      }
      BasicBlock* next = rest.pop_back_val();
      if (seen.insert(next).second)
        stack.emplace_back(next, nextOf(region, header, next));
    }
  }

  SmallVector<BasicBlock*> nextOf(Loop* region, BasicBlock* header, BasicBlock* block) {
    SmallVector<BasicBlock*> next;
    auto add = [&](BasicBlock* successor) {
      if (successor == header || (region && !region->contains(successor)))
        return;
      Loop* inner = innerLoop(successor, region);
      next.push_back(inner ? inner->getHeader() : successor);
    };
    Loop* inner = innerLoop(block, region);
    if (!inner) {
      for (BasicBlock* successor : successors(block))
        add(successor);
      return next;
    }
    SmallVector<BasicBlock*> exits;
    inner->getExitBlocks(exits);
    for (BasicBlock* exit : exits)
      add(exit);
    return next;
  }

  DominatorTree dominators_;
  LoopInfo loops_;
  SmallVector<BasicBlock*> blocks_;
};

/// Finds the loops in which a lane can be an iteration ahead of another one that waits.
class UnevenLoops {
public:
  explicit UnevenLoops(Function& function) : dominators_(function), loops_(dominators_) {}

  struct Ends {
    BasicBlock* header;
    SmallVector<BasicBlock*> latches;
  };

  /// `operations` are the blocks that hold wave operations.
  SmallVector<Ends> find(ArrayRef<BasicBlock*> operations) {
    SmallSetVector<Loop*, 8> uneven;
    for (BasicBlock* block : operations)
      for (Loop* loop = loops_.getLoopFor(block); loop; loop = loop->getParentLoop())
        if (loops_.getLoopFor(block) != loop || !isPassedOnce(*block, *loop))
          uneven.insert(loop);
    SmallVector<Ends> ends;
    for (Loop* loop : uneven) {
      Ends& made = ends.emplace_back(Ends{loop->getHeader(), {}});
      loop->getLoopLatches(made.latches);
    }
    return ends;
  }

private:
  /// Whether every iteration passes the block, except perhaps the last one.
  bool isPassedOnce(BasicBlock& block, Loop& loop) {
    SmallVector<BasicBlock*> latches;
    loop.getLoopLatches(latches);
    return all_of(latches, [&](BasicBlock* latch) { return dominators_.dominates(&block, latch); });
  }

  DominatorTree dominators_;
  LoopInfo loops_;
};

/// Calls of functions that were not inlined count: they may hold wave operations.
bool mayBeTogether(const Instruction& instruction, const Function& operation) {
  auto* call = dyn_cast<CallInst>(&instruction);
  if (!call || call->isInlineAsm())
    return false;
  const Function* callee = call->getCalledFunction();
  return !callee || callee == &operation ||
         (!callee->isDeclaration() && !callee->hasFnAttribute(Attribute::StrictFP));
}

/// In loops where not every iteration passes each operation once, lanes wait before the next.
void waitAtLoopEnds(Function& function, const Function& operation, bool isKernel) {
  SmallVector<BasicBlock*> operations;
  for (BasicBlock& block : function)
    if (any_of(block, [&](Instruction& i) { return mayBeTogether(i, operation); }))
      operations.push_back(&block);
  if (operations.empty())
    return;
  for (auto& [header, latches] : UnevenLoops(function).find(operations)) {
    BasicBlock* end = SplitBlockPredecessors(header, latches, ".wave.end");
    Emit emit(*end->getTerminator());
    auto* wait =
        cast<CallInst>(waveOperation(emit, MNEME_WAVE_SYNC, emit.getInt64(0), emit.getInt32(0)));
    auto* context = cast<Instruction>(wait->getArgOperand(0));
    if (isKernel)
      continue;
    wait->setArgOperand(0, function.getArg(0));
    context->eraseFromParent();
  }
}

} // namespace

void numberWaveOperations(Module& module, Function& kernel) {
  Function* operation =
      module.getFunction(kServicePrefix + std::to_string(offsetof(mneme_cpu_services, wave)));
  if (!operation || operation->use_empty())
    return;
  for (Function& function : module)
    if (!function.isDeclaration() && !function.hasFnAttribute(Attribute::StrictFP))
      waitAtLoopEnds(function, *operation, &function == &kernel);
  uint32_t number = 0;
  auto numberIn = [&](Function& function) {
    ProgramOrder order(function);
    for (BasicBlock* block : order.blocks())
      for (Instruction& instruction : *block)
        if (auto* call = dyn_cast<CallInst>(&instruction);
            call && call->getCalledFunction() == operation)
          call->setArgOperand(1, ConstantInt::get(Type::getInt32Ty(module.getContext()), ++number));
  };
  // Lanes in a function that stayed one come before those that wait behind its call.
  for (Function& function : module)
    if (!function.isDeclaration() && &function != &kernel)
      numberIn(function);
  numberIn(kernel);
}

} // namespace mneme::compile::cpu
