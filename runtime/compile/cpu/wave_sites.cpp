// The order of wave operations in a program. Lanes of a wave that wait at different operations go
// on where the lowest number is: those still in a loop before those behind it, both sides of a
// branch before what follows, as the hardware does when it brings lanes together again.
#include <cstddef>

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "runtime/compile/cpu/amdgcn.h"
#include "runtime/device/cpu/image_abi.h"

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

} // namespace

void numberWaveOperations(Module& module, Function& kernel) {
  Function* operation =
      module.getFunction(kServicePrefix + std::to_string(offsetof(mneme_cpu_services, wave)));
  if (!operation)
    return;
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
