// Loops in which the threads of a block take every so many-th element and keep something from one
// to the next, as `for (i = first(thread); i < n; i += stride) sum += x[i]`. One thread after the
// other, such a loop walks memory in strides. It is turned inside out: between two barriers that
// nobody asked for lies one iteration of all threads that are still in it.
#include <cstddef>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "runtime/core/abi/cpu_image.h"
#include "runtime/emulator/lowering/emit.h"
#include "runtime/emulator/lowering/phases/neighbours.h"
#include "runtime/emulator/lowering/phases/phases.h"
#include "runtime/emulator/lowering/phases/values.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

// What goes from one iteration to the next costs a load and a store each.
constexpr size_t kMostPhis = 8;
constexpr size_t kMostBlocks = 6;
// Every loop makes two more copies of what lies behind it.
constexpr size_t kMostLoops = 4;
constexpr unsigned kMostInstructions = 10000;

struct StridedLoop {
  BasicBlock* header = nullptr; ///< the loop is left here only
  BasicBlock* latch = nullptr;
  BasicBlock* body = nullptr;
  BasicBlock* exit = nullptr;
  PHINode* index = nullptr;
  Value* start = nullptr; ///< one apart in neighbouring threads
  Value* step = nullptr;  ///< the same in all
};

class StrideCutter {
public:
  StrideCutter(Function& body, const PhaseArguments& arguments)
      : body_(body), arguments_(arguments), control_(analyzeControl(body, arguments, {})),
        recomputation_(body.getArg(arguments.context)) {}

  bool run() {
    if (!canBeCut(body_) || !hasOnlyPlainAccesses(body_) ||
        body_.getInstructionCount() > kMostInstructions)
      return false;
    DominatorTree dominators(body_);
    LoopInfo loops(dominators);
    SmallVector<StridedLoop> found;
    for (Loop* loop : loops.getLoopsInPreorder())
      if (StridedLoop strided; loop->isInnermost() && match(*loop, strided))
        found.push_back(strided);
    if (found.empty() || found.size() > kMostLoops)
      return false;
    for (const StridedLoop& loop : found)
      cut(loop);
    return true;
  }

private:
  bool match(Loop& loop, StridedLoop& found) {
    found.header = loop.getHeader();
    found.latch = loop.getLoopLatch();
    found.exit = loop.getExitBlock();
    if (!found.latch || !found.exit || loop.getExitingBlock() != found.header ||
        found.latch == found.header || !loop.getLoopPredecessor() ||
        loop.getNumBlocks() > kMostBlocks || range_size(found.header->phis()) > kMostPhis)
      return false;
    Stride stride(body_.getArg(arguments_.thread(0)), control_.divergent);
    for (PHINode& phi : found.header->phis())
      if (!found.index && isStrided(phi, loop, stride, found))
        stride.learn(&phi, 1);
    auto* branch = dyn_cast<BranchInst>(found.header->getTerminator());
    if (!found.index || !branch || !isCountedBy(*branch, stride))
      return false;
    found.body = branch->getSuccessor(branch->getSuccessor(0) == found.exit ? 1 : 0);
    return touchesNeighbours(loop, stride) && walks(loop, stride);
  }

  /// Whether it is `start`, then a `step` more with each iteration.
  bool isStrided(PHINode& phi, Loop& loop, const Stride& stride, StridedLoop& found) {
    if (!phi.getType()->isIntegerTy())
      return false;
    auto* next = dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(found.latch));
    if (!next || next->getOpcode() != Instruction::Add || !is_contained(next->operands(), &phi))
      return false;
    found.start = phi.getIncomingValueForBlock(loop.getLoopPredecessor());
    found.step = next->getOperand(next->getOperand(0) == &phi ? 1 : 0);
    bool changed = false;
    const auto isGiven = [&](Value* value) {
      auto* instruction = dyn_cast<Instruction>(value);
      return !instruction || (!loop.contains(instruction) && recomputation_.isCheap(instruction));
    };
    const auto isInside = [&](const User* user) {
      return loop.contains(cast<Instruction>(user)->getParent());
    };
    if (!isGiven(found.start) || !loop.makeLoopInvariant(found.step, changed) ||
        !isGiven(found.step) || control_.divergent.contains(found.step) ||
        stride.of(found.start) != 1 || !all_of(phi.users(), isInside))
      return false;
    found.index = &phi;
    return true;
  }

  /// Threads leave the loop at about the same time: the index is compared to what all have.
  bool isCountedBy(const BranchInst& branch, const Stride& stride) const {
    auto* test = branch.isConditional() ? dyn_cast<ICmpInst>(branch.getCondition()) : nullptr;
    if (!test || !test->getOperand(0)->getType()->isIntegerTy())
      return false;
    const auto left = stride.of(test->getOperand(0)), right = stride.of(test->getOperand(1));
    return left && right && *left + *right == 1;
  }

  static bool walks(const Loop& loop, const Stride& stride) {
    return any_of(loop.blocks(), [&](const BasicBlock* block) {
      return any_of(*block, [&](const Instruction& instruction) {
        const Value* pointer = getLoadStorePointerOperand(&instruction);
        return pointer && stride.of(pointer).value_or(0) != 0;
      });
    });
  }

  /// Puts a barrier on both ways out of the test. The one in the loop has the smaller number: only
  /// when nobody is left there, others go on.
  void cut(const StridedLoop& loop) {
    BasicBlock* inside = SplitEdge(loop.header, loop.body);
    BasicBlock* outside = SplitEdge(loop.header, loop.exit);
    outside->moveAfter(inside);
    Instruction* barrier = addBarrier(*inside);
    addBarrier(*outside);
    // Threads at the barrier in the loop are in the same iteration, whose number they share.
    IRBuilder<> builder(loop.header, loop.header->begin());
    Type* type = loop.index->getType();
    PHINode* number = builder.CreatePHI(type, 2, "round");
    number->setMetadata(kRoundMetadata, MDNode::get(body_.getContext(), {}));
    builder.SetInsertPoint(loop.latch->getTerminator());
    Value* next = builder.CreateAdd(number, ConstantInt::get(type, 1));
    for (BasicBlock* before : loop.index->blocks())
      number->addIncoming(before == loop.latch ? next : ConstantInt::get(type, 0), before);
    builder.SetInsertPoint(loop.header, loop.header->getFirstInsertionPt());
    Value* tested = indexAt(builder, loop, number);
    builder.SetInsertPoint(barrier->getNextNode());
    Value* used = indexAt(builder, loop, number);
    for (Use& use : make_early_inc_range(loop.index->uses())) {
      auto* user = cast<Instruction>(use.getUser());
      use.set(user->getParent() == loop.header && !isa<PHINode>(user) ? tested : used);
    }
    loop.index->eraseFromParent();
  }

  Instruction* addBarrier(BasicBlock& block) {
    Emit e(*block.getTerminator());
    return e.service(offsetof(mneme_cpu_services, barrier), e.getVoidTy(),
                     {body_.getArg(arguments_.context), e.getInt32(0), e.getInt32(0)});
  }

  static Value* indexAt(IRBuilder<>& builder, const StridedLoop& loop, Value* number) {
    return builder.CreateAdd(loop.start, builder.CreateMul(number, loop.step));
  }

  Function& body_;
  const PhaseArguments& arguments_;
  PhaseControl control_;
  Recomputation recomputation_;
};

} // namespace

bool cutStridedLoops(Function& body, const PhaseArguments& arguments) {
  return StrideCutter(body, arguments).run();
}

} // namespace mneme::compile::cpu
