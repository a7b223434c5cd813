// Loops that all threads of a block run equally often, turned inside out: between two barriers that
// nobody asked for lies one iteration of all threads, which can be vectorised.
#include <cstddef>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "runtime/abi/cpu_image.h"
#include "runtime/compile/cpu/emit.h"
#include "runtime/compile/cpu/phases/phases.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

// What goes from one iteration to the next costs a load and a store each.
constexpr size_t kMostPhis = 8;
constexpr size_t kMostBlocks = 6;
constexpr uint64_t kShortLoop = 32;

bool isHarmless(const IntrinsicInst& call) {
  return call.isLifetimeStartOrEnd() || isa<AssumeInst>(call) || isa<NoAliasScopeDeclInst>(call);
}

/// How far apart neighbouring threads find `value`, in bytes or units; nothing if that varies.
class Stride {
public:
  Stride(const Value* thread, const SmallPtrSetImpl<const Value*>& divergent)
      : thread_(thread), divergent_(divergent) {}

  std::optional<int64_t> of(const Value* value, unsigned depth = 0) const {
    if (value == thread_)
      return 1;
    if (!divergent_.contains(value))
      return 0;
    auto* operation = dyn_cast<Operator>(value);
    if (!operation || depth > 16)
      return std::nullopt;
    switch (operation->getOpcode()) {
    case Instruction::SExt:
    case Instruction::ZExt:
    case Instruction::Trunc:
      return of(operation->getOperand(0), depth + 1);
    case Instruction::Add:
    case Instruction::Sub: {
      auto a = of(operation->getOperand(0), depth + 1);
      auto b = of(operation->getOperand(1), depth + 1);
      if (!a || !b)
        return std::nullopt;
      return operation->getOpcode() == Instruction::Add ? *a + *b : *a - *b;
    }
    case Instruction::GetElementPtr:
      return ofAddress(*cast<GEPOperator>(operation), depth);
    default:
      return std::nullopt;
    }
  }

private:
  std::optional<int64_t> ofAddress(const GEPOperator& address, unsigned depth) const {
    auto base = of(address.getPointerOperand(), depth + 1);
    if (!base || address.getNumIndices() != 1 || !isa<Instruction>(address))
      return std::nullopt;
    auto index = of(address.getOperand(1), depth + 1);
    if (!index)
      return std::nullopt;
    const DataLayout& layout = cast<Instruction>(address).getDataLayout();
    return *base + *index * int64_t(layout.getTypeAllocSize(address.getSourceElementType()));
  }

  const Value* thread_;
  const SmallPtrSetImpl<const Value*>& divergent_;
};

class LoopCutter {
public:
  LoopCutter(Function& body, const PhaseArguments& arguments)
      : body_(body), arguments_(arguments) {}

  bool run() {
    if (!canBeCut(body_) || !hasOnlyPlainAccesses())
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
  bool hasOnlyPlainAccesses() {
    for (Instruction& instruction : instructions(body_)) {
      if (auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction)) {
        if (!isHarmless(*intrinsic) && intrinsic->mayReadOrWriteMemory())
          return false;
        continue;
      }
      if (isa<CallBase>(instruction))
        return false;
      auto* load = dyn_cast<LoadInst>(&instruction);
      auto* store = dyn_cast<StoreInst>(&instruction);
      if (instruction.mayReadOrWriteMemory() && !(load && load->isSimple()) &&
          !(store && store->isSimple()))
        return false;
    }
    return true;
  }

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
    return accessesNeighbours(loop);
  }

  /// Neighbouring threads read and write the same or neighbouring memory, and compute something.
  bool accessesNeighbours(Loop& loop) {
    PhaseControl control = analyzeControl(body_, arguments_, {});
    Stride stride(body_.getArg(arguments_.thread(0)), control.divergent);
    const DataLayout& layout = body_.getDataLayout();
    bool computes = false;
    for (BasicBlock* block : loop.blocks())
      for (Instruction& instruction : *block) {
        computes |= instruction.getType()->isFloatingPointTy() && isa<BinaryOperator>(instruction);
        const Value* pointer = getLoadStorePointerOperand(&instruction);
        if (!pointer)
          continue;
        auto distance = stride.of(pointer);
        uint64_t size = layout.getTypeStoreSize(getLoadStoreType(&instruction));
        bool isNear = distance && (*distance == 0 || uint64_t(*distance) == size);
        if (!isNear || (isa<StoreInst>(instruction) && *distance == 0))
          return false;
      }
    return computes;
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
