// Loops that all threads of a block run equally often, turned inside out: between two barriers that
// nobody asked for lies one iteration of all threads, which can be vectorised.
#include <cstddef>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/phases/neighbours.h"
#include "runtime/emulator/lowering/phases/phases.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

// What goes from one iteration to the next costs a load and a store each.
constexpr size_t kMostPhis = 8;
constexpr size_t kMostBlocks = 6;
constexpr uint64_t kShortLoop = 32;

class LoopCutter {
public:
  LoopCutter(Function& body, const PhaseArguments& arguments)
      : body_(body), arguments_(arguments) {}

  bool run() {
    if (!canBeCut(body_) || !hasOnlyPlainAccesses(body_))
      return false;
    DominatorTree dominators(body_);
    LoopInfo loops(dominators);
    SmallVector<BasicBlock*> tests;
    for (Loop* loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && isWorthCutting(*loop))
        tests.push_back(loop->getExitingBlock());
    bool changed = false;
    for (BasicBlock* test : tests)
      changed |= cut(*test);
    return changed;
  }

private:
  bool isWorthCutting(Loop& loop) {
    BasicBlock* exiting = loop.getExitingBlock();
    if (!exiting || !loop.getLoopLatch() || !loop.getExitBlock() ||
        loop.getNumBlocks() > kMostBlocks || range_size(loop.getHeader()->phis()) > kMostPhis)
      return false;
    auto* branch = dyn_cast<BranchInst>(exiting->getTerminator());
    auto* test =
        branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    if (!test)
      return false;
    for (Value* operand : test->operands())
      if (auto* bound = dyn_cast<ConstantInt>(operand);
          bound && bound->getValue().ule(kShortLoop) && !bound->isZero())
        return false;
    return accessesNeighbours(loop); // and compute something
  }

  bool accessesNeighbours(Loop& loop) {
    PhaseControl control = analyzeControl(body_, arguments_, {});
    return touchesNeighbours(loop, Stride(body_.getArg(arguments_.thread(0)), control.divergent)) &&
           any_of(loop.blocks(), [](const BasicBlock* block) {
             return any_of(*block, [](const Instruction& instruction) {
               return instruction.getType()->isFloatingPointTy() &&
                      isa<BinaryOperator>(instruction);
             });
           });
  }

  /// Puts a barrier on both ways out of the loop's test, unless threads may differ in the test.
  bool cut(BasicBlock& exiting) {
    SmallVector<BasicBlock*, 2> targets(successors(&exiting));
    std::vector<PhaseBarrier> barriers;
    for (BasicBlock* target : targets) {
      BasicBlock* between = SplitEdge(&exiting, target);
      Emit e(*between->getTerminator());
      PhaseBarrier barrier;
      barrier.call = e.service(offsetof(mneme_cpu_services, barrier), e.getVoidTy(),
                               {body_.getArg(arguments_.context), e.getInt32(0), e.getInt32(0)});
      barriers.push_back(barrier);
    }
    if (analyzeControl(body_, arguments_, barriers).isUniform)
      return true;
    for (PhaseBarrier& barrier : barriers)
      barrier.call->eraseFromParent();
    return false;
  }

  Function& body_;
  const PhaseArguments& arguments_;
};

} // namespace

bool cutUniformLoops(Function& body, const PhaseArguments& arguments) {
  return LoopCutter(body, arguments).run();
}

} // namespace mneme::compile::cpu
