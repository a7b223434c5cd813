#include "passes/unset_locals.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "passes/value_bytes.h"

namespace mneme::passes {
namespace {

// Larger variables are arrays whose bytes are not counted one by one.
constexpr uint64_t kCountedBytes = 4096;

enum class Access { Read, Write };

/// How many of a variable's bytes hold values.
uint64_t valueCount(llvm::Type* type, const llvm::DataLayout& layout) {
  uint64_t total = 0;
  for (const ByteRun& run : valueBytes(type, layout))
    total += run.sizeBytes;
  return total;
}

/// One variable: where it is read and written, and how much of it is ever written.
class Local {
public:
  Local(const llvm::AllocaInst& variable, uint64_t sizeBytes)
      : variable_(variable), layout_(variable.getModule()->getDataLayout()),
        written_(std::min(sizeBytes, kCountedBytes)), sizeBytes_(sizeBytes) {
    collect(&variable, 0);
  }

  bool mayBeReadUnset() const {
    if (!isRead_)
      return false;
    if (!isWhollyWritten())
      return true;
    llvm::SmallPtrSet<const llvm::BasicBlock*, 32> seen;
    llvm::SmallVector<const llvm::BasicBlock*, 32> pending{variable_.getParent()};
    while (!pending.empty()) {
      const llvm::BasicBlock* block = pending.pop_back_val();
      const std::optional<Access> first = firstAccess(*block);
      if (first == Access::Read)
        return true;
      if (!first)
        for (const llvm::BasicBlock* next : llvm::successors(block))
          if (seen.insert(next).second)
            pending.push_back(next);
    }
    return false;
  }

private:
  bool isWhollyWritten() const {
    return isUnknown_ ||
           written_.count() >=
               std::min(valueCount(variable_.getAllocatedType(), layout_), sizeBytes_);
  }

  std::optional<Access> firstAccess(const llvm::BasicBlock& block) const {
    if (!touched_.contains(&block))
      return std::nullopt;
    for (const llvm::Instruction& instruction : block)
      if (const auto found = accesses_.find(&instruction); found != accesses_.end())
        return found->second;
    return std::nullopt;
  }

  void note(const llvm::Instruction& instruction, Access access) {
    // An access that reads and writes, such as a copy within the variable, reads first.
    const auto [entry, isNew] = accesses_.try_emplace(&instruction, access);
    if (!isNew && access == Access::Read)
      entry->second = access;
    touched_.insert(instruction.getParent());
    isRead_ |= access == Access::Read;
  }

  void write(const llvm::Instruction& instruction, std::optional<uint64_t> offset,
             std::optional<uint64_t> size) {
    note(instruction, Access::Write);
    if (offset && size && *offset < written_.size())
      written_.set(*offset, std::min<uint64_t>(*offset + *size, written_.size()));
  }

  /// From here on unknown code may write to the variable.
  void release(const llvm::Instruction& instruction) {
    note(instruction, Access::Write);
    isUnknown_ = true;
  }

  void collect(const llvm::Value* pointer, std::optional<uint64_t> offset) {
    for (const llvm::Use& use : pointer->uses())
      collectUse(use, offset);
  }

  void collectUse(const llvm::Use& use, std::optional<uint64_t> offset) {
    const auto& user = *llvm::cast<llvm::Instruction>(use.getUser());
    if (llvm::isa<llvm::LoadInst>(user)) {
      note(user, Access::Read);
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&user);
               store && use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex()) {
      write(user, offset, layout_.getTypeStoreSize(store->getValueOperand()->getType()));
    } else if (const auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&user)) {
      llvm::APInt distance(layout_.getIndexTypeSizeInBits(element->getType()), 0);
      const bool isConstant =
          offset && element->accumulateConstantOffset(layout_, distance) && !distance.isNegative();
      collect(&user, isConstant ? std::optional(*offset + distance.getZExtValue()) : std::nullopt);
    } else if (llvm::isa<llvm::AddrSpaceCastInst, llvm::BitCastInst>(user)) {
      collect(&user, offset);
    } else if (const auto* transfer = llvm::dyn_cast<llvm::MemIntrinsic>(&user)) {
      collectTransfer(*transfer, use, offset);
    } else if (!user.isLifetimeStartOrEnd() && !llvm::isa<llvm::ICmpInst>(user)) {
      release(user);
    }
  }

  void collectTransfer(const llvm::MemIntrinsic& transfer, const llvm::Use& use,
                       std::optional<uint64_t> offset) {
    if (use.getOperandNo() != 0) {
      note(transfer, Access::Read);
      return;
    }
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(transfer.getLength());
    write(transfer, offset, length ? std::optional(length->getZExtValue()) : std::nullopt);
  }

  const llvm::AllocaInst& variable_;
  const llvm::DataLayout& layout_;
  llvm::BitVector written_; ///< bytes written at known places, as far as they are counted
  uint64_t sizeBytes_;
  llvm::DenseMap<const llvm::Instruction*, Access> accesses_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> touched_;
  bool isRead_ = false;
  bool isUnknown_ = false;
};

} // namespace

bool mayReadUnsetLocals(const llvm::Function& function) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  return llvm::any_of(llvm::instructions(function), [&](const llvm::Instruction& instruction) {
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable)
      return false;
    const std::optional<llvm::TypeSize> size = variable->getAllocationSize(layout);
    return size && size->isFixed() && Local(*variable, size->getFixedValue()).mayBeReadUnset();
  });
}

} // namespace mneme::passes
