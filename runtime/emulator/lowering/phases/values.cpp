#include "runtime/emulator/lowering/phases/values.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

// About what a store and a load of one value cost, in instructions that are mostly shared with
// others or hoisted.
constexpr size_t kCheapChain = 16;

/// Blocks at whose beginning `value` is still needed.
SmallPtrSet<BasicBlock*, 16> liveBlocks(Instruction& value) {
  SmallPtrSet<BasicBlock*, 16> live;
  SmallVector<BasicBlock*> work;
  BasicBlock* home = value.getParent();
  auto need = [&](BasicBlock* block) {
    if (block != home)
      work.push_back(block);
  };
  for (Use& use : value.uses()) {
    auto* user = cast<Instruction>(use.getUser());
    if (auto* phi = dyn_cast<PHINode>(user))
      need(phi->getIncomingBlock(use));
    else
      need(user->getParent());
  }
  while (!work.empty()) {
    BasicBlock* block = work.pop_back_val();
    if (live.insert(block).second)
      for (BasicBlock* before : predecessors(block))
        need(before);
  }
  return live;
}

bool staysInBlock(const Instruction& value) {
  return all_of(value.users(), [&](const User* user) {
    auto* instruction = cast<Instruction>(user);
    return instruction->getParent() == value.getParent() && !isa<PHINode>(instruction);
  });
}

/// Everything that may hold an address derived from `local`; false if it gets out of sight.
bool collectDerived(AllocaInst& local, SmallSetVector<Instruction*, 16>& derived) {
  derived.insert(&local);
  for (size_t index = 0; index < derived.size(); ++index) {
    Instruction* pointer = derived[index];
    for (User* user : pointer->users()) {
      if (isa<LoadInst>(user) || isa<ICmpInst>(user) || isa<MemIntrinsic>(user))
        continue;
      if (auto* store = dyn_cast<StoreInst>(user); store && store->getValueOperand() != pointer)
        continue;
      if (isa<GetElementPtrInst>(user) || isa<AddrSpaceCastInst>(user) || isa<BitCastInst>(user) ||
          isa<PHINode>(user) || isa<SelectInst>(user)) {
        derived.insert(cast<Instruction>(user));
        continue;
      }
      if (auto* intrinsic = dyn_cast<IntrinsicInst>(user);
          intrinsic && intrinsic->isLifetimeStartOrEnd())
        continue;
      return false;
    }
  }
  return true;
}

} // namespace

std::vector<SmallSetVector<Instruction*, 16>>
valuesAcross(Function& body, const std::vector<PhaseBarrier>& barriers) {
  std::vector<SmallSetVector<Instruction*, 16>> across(barriers.size());
  for (Instruction& value : instructions(body)) {
    if (value.getType()->isVoidTy() || staysInBlock(value))
      continue;
    SmallPtrSet<BasicBlock*, 16> live = liveBlocks(value);
    for (size_t index = 0; index < barriers.size(); ++index)
      if (live.contains(barriers[index].after) && barriers[index].call != &value)
        across[index].insert(&value);
  }
  return across;
}

SmallVector<AllocaInst*> localsAcross(Function& body,
                                      const std::vector<SmallSetVector<Instruction*, 16>>& across) {
  SmallVector<AllocaInst*> result;
  for (Instruction& instruction : instructions(body)) {
    auto* local = dyn_cast<AllocaInst>(&instruction);
    if (!local)
      continue;
    SmallSetVector<Instruction*, 16> derived;
    bool isKnown = collectDerived(*local, derived);
    bool outlives = any_of(derived, [&](Instruction* value) {
      return any_of(across, [&](const auto& values) { return values.contains(value); });
    });
    if (!isKnown || outlives)
      result.push_back(local);
  }
  return result;
}

bool Recomputation::isPure(const Instruction& instruction) const {
  if (auto* load = dyn_cast<LoadInst>(&instruction))
    return readsLaunchConstant(*load, context_);
  if (auto* call = dyn_cast<CallInst>(&instruction))
    return isa<IntrinsicInst>(call) && !call->mayReadOrWriteMemory() && call->willReturn() &&
           isSafeToSpeculativelyExecute(call);
  switch (instruction.getOpcode()) {
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
  case Instruction::FDiv:
  case Instruction::FRem:
    return false;
  default:
    return isa<BinaryOperator>(instruction) || isa<CastInst>(instruction) ||
           isa<GetElementPtrInst>(instruction) || isa<CmpInst>(instruction) ||
           isa<SelectInst>(instruction) || isa<UnaryOperator>(instruction);
  }
}

bool Recomputation::addChain(Instruction* value, SmallPtrSetImpl<Instruction*>& chain) {
  if (isa<AllocaInst>(value) || chain.contains(value))
    return true;
  if (!isPure(*value) || chain.size() >= kCheapChain)
    return false;
  chain.insert(value);
  return all_of(value->operands(), [&](Value* operand) {
    auto* instruction = dyn_cast<Instruction>(operand);
    return !instruction || addChain(instruction, chain);
  });
}

bool Recomputation::isCheap(Instruction* value) {
  SmallPtrSet<Instruction*, 16> chain;
  return addChain(value, chain);
}

Value* Recomputation::emit(Instruction* value, BasicBlock* block) {
  if (isa<AllocaInst>(value))
    return value;
  Value*& made = made_[{value, block}];
  if (made)
    return made;
  Instruction* copy = value->clone();
  copy->setName(value->getName());
  for (Use& operand : copy->operands())
    if (auto* instruction = dyn_cast<Instruction>(operand))
      operand = emit(instruction, block);
  copy->insertInto(block, block->end());
  return made_[{value, block}] = copy;
}

uint64_t ScratchLayout::add(uint64_t sizeBytes) {
  uint64_t offset = bytes_;
  bytes_ += sizeBytes;
  return offset;
}

} // namespace mneme::compile::cpu
