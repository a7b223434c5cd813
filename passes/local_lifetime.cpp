#include "passes/local_lifetime.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <optional>

namespace mneme::passes {
namespace {

enum class Access { Read, Set, Edge };

bool isLifetimeStart(const llvm::Instruction& instruction) {
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return intrinsic && intrinsic->getIntrinsicID() == llvm::Intrinsic::lifetime_start;
}

/// What `use`, of the address itself, does to a variable of `sizeBytes`.
Access accessOf(const llvm::Use& use, uint64_t sizeBytes, const llvm::DataLayout& layout) {
  const auto& user = *llvm::cast<llvm::Instruction>(use.getUser());
  if (user.isLifetimeStartOrEnd())
    return Access::Edge;
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user);
      store && use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex()) {
    const llvm::TypeSize stored = layout.getTypeStoreSize(store->getValueOperand()->getType());
    return !stored.isScalable() && stored.getFixedValue() >= sizeBytes ? Access::Set : Access::Read;
  }
  if (const auto* transfer = llvm::dyn_cast<llvm::MemIntrinsic>(&user)) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(transfer->getLength());
    if (use.getOperandNo() == 0 && length && length->getZExtValue() >= sizeBytes)
      return Access::Set;
  }
  return Access::Read;
}

/// The accesses of one variable, searched along the paths of its function.
class Paths {
public:
  Paths(llvm::AllocaInst& variable, uint64_t sizeBytes, const llvm::DataLayout& layout)
      : sizeBytes_(sizeBytes), layout_(layout) {
    collect(variable);
  }

  /// Whether all that happens to the variable is known: no address within it is made.
  bool areKnown() const { return areKnown_; }

  bool isSetFirstBehind(const llvm::Instruction& beginning) const {
    llvm::SmallVector<const llvm::BasicBlock*, 16> pending;
    llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
    const auto follow = [&](const llvm::BasicBlock& block, llvm::BasicBlock::const_iterator from) {
      const std::optional<Access> first = firstIn(block, from);
      if (!first)
        for (const llvm::BasicBlock* next : llvm::successors(&block))
          if (seen.insert(next).second)
            pending.push_back(next);
      return first != Access::Read;
    };
    if (!follow(*beginning.getParent(), std::next(beginning.getIterator())))
      return false;
    while (!pending.empty()) {
      const llvm::BasicBlock* block = pending.pop_back_val();
      if (!follow(*block, block->begin()))
        return false;
    }
    return true;
  }

private:
  /// AMD GPUs' variables are used through casts to the generic address space, made far above.
  void collect(const llvm::Value& address) {
    for (const llvm::Use& use : address.uses()) {
      const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (llvm::isa<llvm::AddrSpaceCastInst, llvm::BitCastInst>(user)) {
        collect(*user);
        continue;
      }
      areKnown_ &= llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::CallBase, llvm::ICmpInst>(user);
      const Access access = accessOf(use, sizeBytes_, layout_);
      // A copy of a variable onto itself reads it.
      const auto [entry, isNew] = accesses_.try_emplace(user, access);
      if (!isNew && access == Access::Read)
        entry->second = access;
      touched_.insert(user->getParent());
    }
  }

  std::optional<Access> firstIn(const llvm::BasicBlock& block,
                                llvm::BasicBlock::const_iterator from) const {
    if (touched_.contains(&block))
      for (; from != block.end(); ++from)
        if (const auto found = accesses_.find(&*from); found != accesses_.end())
          return found->second;
    return std::nullopt;
  }

  uint64_t sizeBytes_;
  const llvm::DataLayout& layout_;
  bool areKnown_ = true;
  llvm::DenseMap<const llvm::Instruction*, Access> accesses_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> touched_;
};

} // namespace

llvm::SmallVector<llvm::Instruction*, 2> beginningsOf(llvm::AllocaInst& variable) {
  llvm::SmallVector<llvm::Instruction*, 2> beginnings;
  for (llvm::User* user : variable.users())
    if (auto* instruction = llvm::cast<llvm::Instruction>(user); isLifetimeStart(*instruction))
      beginnings.push_back(instruction);
  if (beginnings.empty())
    beginnings.push_back(&variable);
  return beginnings;
}

bool isSetFirst(llvm::AllocaInst& variable) {
  const llvm::DataLayout& layout = variable.getModule()->getDataLayout();
  const std::optional<llvm::TypeSize> size = variable.getAllocationSize(layout);
  if (!size || !size->isFixed())
    return variable.use_empty();
  const Paths paths(variable, size->getFixedValue(), layout);
  if (!paths.areKnown())
    return false;
  for (const llvm::Instruction* beginning : beginningsOf(variable))
    if (!paths.isSetFirstBehind(*beginning))
      return false;
  return true;
}

} // namespace mneme::passes
