// Kernels of the form `for (i = first(thread); i < n; i += stride) ...`. One thread after the
// other, such a loop walks memory in strides; turned inside out, all threads do their k-th
// iteration before any does its next, and neighbouring threads touch neighbouring memory.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

struct StrideLoop {
  PHINode* index = nullptr;
  Value* start = nullptr;
  Value* step = nullptr;
  BasicBlock* header = nullptr;
  BasicBlock* latch = nullptr;
  BasicBlock* exit = nullptr;
};

/// Everything outside the loop is executed again for each iteration, so it must have no effect and
/// see nothing the loop changes.
bool isRepeatable(const Instruction& instruction) {
  if (isa<AllocaInst>(instruction))
    return false;
  if (!instruction.mayReadOrWriteMemory() || isa<NoAliasScopeDeclInst>(instruction) ||
      isa<AssumeInst>(instruction))
    return !isa<CallBase>(instruction) || instruction.willReturn();
  auto* load = dyn_cast<LoadInst>(&instruction);
  if (!load || !load->isSimple())
    return false;
  auto* argument = dyn_cast<Argument>(getUnderlyingObject(load->getPointerOperand()));
  bool isParameterStruct = argument && argument->hasNoAliasAttr() && argument->onlyReadsMemory();
  return isParameterStruct || load->hasMetadata(LLVMContext::MD_invariant_load);
}

bool leavesOnlyAtHeader(const Loop& loop) {
  SmallVector<BasicBlock*> exiting;
  loop.getExitingBlocks(exiting);
  return exiting.size() == 1 && exiting[0] == loop.getHeader();
}

bool matchInduction(Loop& loop, StrideLoop& found) {
  BasicBlock* header = loop.getHeader();
  found.latch = loop.getLoopLatch();
  if (!found.latch || !loop.getLoopPreheader() || range_size(header->phis()) != 1)
    return false;
  auto* jump = dyn_cast<BranchInst>(found.latch->getTerminator());
  if (!jump || jump->isConditional() || found.latch == header)
    return false;
  found.header = header;
  found.exit = loop.getExitBlock();
  found.index = &*header->phis().begin();
  if (!found.index->getType()->isIntegerTy())
    return false;
  found.start = found.index->getIncomingValueForBlock(loop.getLoopPreheader());
  auto* next = dyn_cast<BinaryOperator>(found.index->getIncomingValueForBlock(found.latch));
  if (!next || next->getOpcode() != Instruction::Add)
    return false;
  unsigned own = next->getOperand(0) == found.index ? 0 : 1;
  found.step = next->getOperand(1 - own);
  bool changed = false;
  return next->getOperand(own) == found.index && loop.makeLoopInvariant(found.step, changed);
}

bool findStrideLoop(Function& body, StrideLoop& found) {
  DominatorTree dominators(body);
  LoopInfo loops(dominators);
  if (range_size(loops.getTopLevelLoops()) != 1)
    return false;
  Loop& loop = **loops.begin();
  for (BasicBlock& block : body) {
    if (loop.contains(&block))
      continue;
    for (Instruction& instruction : block)
      if (!isRepeatable(instruction))
        return false;
    for (PHINode& phi : block.phis())
      if (any_of(phi.blocks(), [&](BasicBlock* from) { return loop.contains(from); }))
        return false;
  }
  return leavesOnlyAtHeader(loop) && loop.getExitBlock() && matchInduction(loop, found);
}

/// Whether the header's instruction can be executed once more at the end of the same iteration.
bool canLookAhead(const Instruction& instruction) {
  auto* load = dyn_cast<LoadInst>(&instruction);
  if (!load)
    return isSafeToSpeculativelyExecute(&instruction);
  auto* address = dyn_cast<Instruction>(load->getPointerOperand());
  return isRepeatable(*load) && !(address && address->getParent() == load->getParent());
}

/// Returns whether the loop continues after the iteration that ends before `position`, as its
/// header would decide. If that is unknown without running it, returns true.
Value* goesOn(const StrideLoop& loop, Instruction& position) {
  auto* branch = cast<BranchInst>(loop.header->getTerminator());
  const bool isSimple =
      branch->isConditional() && all_of(*loop.header, [&](const Instruction& instruction) {
        return isa<PHINode>(instruction) || &instruction == branch || canLookAhead(instruction);
      });
  if (!isSimple)
    return ConstantInt::getTrue(position.getContext());
  ValueToValueMapTy copies;
  copies[loop.index] = loop.index->getIncomingValueForBlock(loop.latch);
  for (Instruction& instruction : *loop.header) {
    if (isa<PHINode>(instruction) || &instruction == branch)
      continue;
    Instruction* copy = instruction.clone();
    copy->insertBefore(position.getIterator());
    copies[&instruction] = copy;
    RemapInstruction(copy, copies, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
  }
  Value* condition = branch->getCondition();
  if (const auto copy = copies.find(condition); copy != copies.end())
    condition = copy->second;
  const bool entersOnTrue = branch->getSuccessor(0) != loop.exit;
  return entersOnTrue ? condition
                      : BinaryOperator::CreateNot(condition, "", position.getIterator());
}

} // namespace

bool isolateIteration(Function& body, Value* iteration, bool onlyCheck) {
  StrideLoop loop;
  if (!findStrideLoop(body, loop))
    return false;
  if (onlyCheck)
    return true;
  LLVMContext& context = body.getContext();
  Instruction* back = loop.latch->getTerminator();
  Value* next = goesOn(loop, *back);
  IRBuilder<> builder(&*loop.index->getParent()->getFirstInsertionPt());
  Value* number = builder.CreateZExtOrTrunc(iteration, loop.index->getType());
  Value* index = builder.CreateAdd(loop.start, builder.CreateMul(number, loop.step));
  loop.index->replaceAllUsesWith(index);
  loop.index->eraseFromParent();
  for (BasicBlock& block : body)
    if (auto* exit = dyn_cast<ReturnInst>(block.getTerminator())) {
      ReturnInst::Create(context, ConstantInt::getFalse(context), exit->getIterator());
      exit->eraseFromParent();
    }
  ReturnInst::Create(context, next, back->getIterator());
  back->eraseFromParent();
  return true;
}

} // namespace mneme::compile::cpu
