#include "runtime/emulator/lowering/phases/neighbours.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

using namespace llvm;

namespace mneme::compile::cpu {
namespace {

bool isHarmless(const IntrinsicInst& call) {
  return call.isLifetimeStartOrEnd() || isa<AssumeInst>(call) || isa<NoAliasScopeDeclInst>(call);
}

} // namespace

std::optional<int64_t> Stride::of(const Value* value, unsigned depth) const {
  if (const auto known = known_.find(value); known != known_.end())
    return known->second;
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

std::optional<int64_t> Stride::ofAddress(const GEPOperator& address, unsigned depth) const {
  auto base = of(address.getPointerOperand(), depth + 1);
  if (!base || address.getNumIndices() != 1 || !isa<Instruction>(address))
    return std::nullopt;
  auto index = of(address.getOperand(1), depth + 1);
  if (!index)
    return std::nullopt;
  const DataLayout& layout = cast<Instruction>(address).getDataLayout();
  return *base + *index * int64_t(layout.getTypeAllocSize(address.getSourceElementType()));
}

bool touchesNeighbours(const Loop& loop, const Stride& stride) {
  const DataLayout& layout = loop.getHeader()->getDataLayout();
  for (BasicBlock* block : loop.blocks())
    for (Instruction& instruction : *block) {
      const Value* pointer = getLoadStorePointerOperand(&instruction);
      if (!pointer)
        continue;
      auto distance = stride.of(pointer);
      uint64_t size = layout.getTypeStoreSize(getLoadStoreType(&instruction));
      bool isNear = distance && (*distance == 0 || uint64_t(*distance) == size);
      if (!isNear || (isa<StoreInst>(instruction) && *distance == 0))
        return false;
    }
  return true;
}

bool hasOnlyPlainAccesses(Function& function) {
  return all_of(instructions(function), [](const Instruction& instruction) {
    if (auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction))
      return isHarmless(*intrinsic) || !intrinsic->mayReadOrWriteMemory();
    if (isa<CallBase>(instruction))
      return false;
    auto* load = dyn_cast<LoadInst>(&instruction);
    auto* store = dyn_cast<StoreInst>(&instruction);
    return !instruction.mayReadOrWriteMemory() || (load && load->isSimple()) ||
           (store && store->isSimple());
  });
}

} // namespace mneme::compile::cpu
