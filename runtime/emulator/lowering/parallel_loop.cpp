// A step of the lowering (steps.h): marks the threads as independent for the vectoriser.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "runtime/compiler/ir/compat.h"
#include "runtime/emulator/lowering/steps.h"

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

bool isHarmless(const Instruction& instruction) {
  auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  return intrinsic && (intrinsic->isLifetimeStartOrEnd() || isa<AssumeInst>(intrinsic) ||
                       isa<NoAliasScopeDeclInst>(intrinsic));
}

/// Plain loads and stores only: anything ordered, volatile or called makes threads dependent, or
/// might.
bool hasOnlyPlainAccesses(const Loop& loop) {
  for (BasicBlock* block : loop.blocks())
    for (Instruction& instruction : *block) {
      if (!instruction.mayReadOrWriteMemory() || isHarmless(instruction))
        continue;
      auto* load = dyn_cast<LoadInst>(&instruction);
      auto* store = dyn_cast<StoreInst>(&instruction);
      if (!(load && load->isSimple()) && !(store && store->isSimple()))
        return false;
    }
  return true;
}

bool hasEscapingLocal(Function& function) {
  for (Instruction& instruction : instructions(function))
    if (auto* local = dyn_cast<AllocaInst>(&instruction))
      if (compat::mayBeCaptured(local))
        return true;
  return false;
}

bool isLocal(const Value* pointer) {
  SmallVector<const Value*> objects;
  getUnderlyingObjects(pointer, objects, nullptr, 0);
  return any_of(objects, [](const Value* object) { return isa<AllocaInst>(object); });
}

void markLoop(Function& runBlock, Loop* loop) {
  if (!loop || !loop->getLoopLatch() || !hasOnlyPlainAccesses(*loop))
    return;
  LLVMContext& context = runBlock.getContext();
  MDNode* group = MDNode::getDistinct(context, {});
  for (BasicBlock* block : loop->blocks())
    for (Instruction& instruction : *block)
      if (const Value* pointer = getLoadStorePointerOperand(&instruction);
          pointer && !isLocal(pointer))
        instruction.setMetadata(LLVMContext::MD_access_group, group);
  MDNode* accesses =
      MDNode::get(context, {MDString::get(context, "llvm.loop.parallel_accesses"), group});
  MDNode* progress = MDNode::get(context, {MDString::get(context, "llvm.loop.mustprogress")});
  SmallVector<Metadata*> parts{nullptr, accesses, progress};
  if (MDNode* said = loop->getLoopID())
    parts.append(said->op_begin() + 1, said->op_end());
  MDNode* id = MDNode::getDistinct(context, parts);
  id->replaceOperandWith(0, id);
  loop->setLoopID(id);
}

} // namespace

void markParallel(Function& runBlock) {
  if (hasEscapingLocal(runBlock))
    return;
  DominatorTree dominators(runBlock);
  LoopInfo loops(dominators);
  for (BasicBlock& block : runBlock)
    if (block.getName().starts_with("thread.x") && loops.isLoopHeader(&block))
      markLoop(runBlock, loops.getLoopFor(&block));
}

} // namespace mneme::compile::cpu
